"""Dynamic shapes, up to a bound: views, and sizes among the results."""

from __future__ import annotations

import torch
from torch import nn
from torch.export import Dim


class Shapes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(8, 6)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, int]:
        length = x.shape[1]
        y = self.layer(x).reshape(-1, length * 2, 3)
        return y.softmax(-1), torch.arange(length) * 2, length


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return Shapes(), (torch.ones(2, 5, 8),)


def get_dynamic_shapes() -> tuple[dict[int, Dim]]:
    return ({1: Dim("length", min=2, max=33)},)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    generator = torch.Generator().manual_seed(0)
    return [(torch.randn(2, length, 8, generator=generator),) for length in (5, 2, 33, 7)]
