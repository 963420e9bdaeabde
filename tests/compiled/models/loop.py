"""A loop over the rows of a tensor, which becomes jumps and copies to an index."""

from __future__ import annotations

import torch
from torch import nn
from torch._higher_order_ops.map import map as map_rows


class Loop(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = map_rows(lambda row: (row * 2).sin(), x)
        return rows + 1


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Loop(), (torch.randn(5, 3),)
