"""A loop over the rows of a tensor, which becomes jumps and copies to an index."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch._higher_order_ops import map as map_rows

# PyTorch's types of the operands are those of no call.
_map_rows: Any = map_rows


class Loop(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = _map_rows(lambda row: (row * 2).sin(), x)
        return rows + 1


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Loop(), (torch.randn(5, 3),)
