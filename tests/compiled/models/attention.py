"""Attention over a dynamic number of tokens, whose kernel needs more scratch memory for more tokens."""

from __future__ import annotations

import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    return Attention(), (torch.randn(1, 2, 4, 16),)


def get_dynamic_shapes() -> tuple[object]:
    return ({2: torch.export.Dim("tokens", min=1, max=128)},)
