"""Inputs and outputs of several dtypes, and memory formats."""

from __future__ import annotations

import torch
from torch import nn

Inputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


class Dtypes(nn.Module):
    def forward(
        self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor, image: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        return a * 2 + 1, b.sigmoid(), c + 1, d.logical_not(), image.permute(0, 2, 3, 1).contiguous(), c


def get_model() -> tuple[nn.Module, Inputs]:
    generator = torch.Generator().manual_seed(0)
    return Dtypes(), (
        torch.randn(7, generator=generator).half(),
        torch.randn(7, generator=generator).bfloat16(),
        torch.tensor([-(2**62), -1, 0, 2**62]),
        torch.tensor([True, False]),
        torch.randn(1, 3, 4, 5, generator=generator).to(memory_format=torch.channels_last),
    )
