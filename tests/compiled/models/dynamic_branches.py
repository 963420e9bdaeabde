"""Branches of torch.cond, one in the other, that return tensors with dynamic sizes."""

from __future__ import annotations

import torch
from torch import nn


class Branches(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        def inner(v: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = torch.cond(v.sum() > 2, lambda w: w * 3, lambda w: w - 1, (v,))
            return result

        z = torch.cond(x.sum() > 0, inner, lambda v: v.sin(), (x,))
        return z, z @ y


def get_model() -> tuple[nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(0)
    return Branches(), (torch.ones(4, 3), torch.randn(3, 5))


def get_dynamic_shapes() -> tuple[object, object]:
    return {0: torch.export.Dim("rows", min=1, max=9)}, None


def get_sample_inputs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(1)
    rows = torch.randn(9, 3)
    y = torch.randn(3, 5)
    return [(rows - rows.mean() + shift, y) for shift in (0.05, 1, -1)] + [(rows[:1] * 0 + 0.1, y), (rows[:2].abs(), y)]
