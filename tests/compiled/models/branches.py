"""Control flow: torch.cond becomes jumps, and moves of tensors."""

from __future__ import annotations

import torch
from torch import nn


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = torch.cond(x.sum() > 0, lambda t: t * 2 + 1, lambda t: -t.sin(), (x,))
        return y + 1


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return Branches(), (torch.ones(3, 4),)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [(torch.ones(3, 4),), (-torch.ones(3, 4),)]
