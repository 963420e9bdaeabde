"""Cumulative operators."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Cumulative(torch.nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return x.cumprod(0), x.long().cumprod(1), *x.cummax(1), *x.cummin(0), x.logcumsumexp(1)


def _rows(count: int) -> tuple[Tensor]:
    return (torch.randn(count, 6, generator=torch.Generator().manual_seed(count)),)


def get_model() -> tuple[torch.nn.Module, tuple[Tensor]]:
    return Cumulative(), _rows(4)


def get_dynamic_shapes() -> dict[str, Any]:
    return {"x": {0: torch.export.Dim("rows", min=2, max=70)}}


def get_sample_inputs() -> list[tuple[Tensor]]:
    return [_rows(4), _rows(2), _rows(70)]
