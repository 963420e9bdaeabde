"""Sorts, and what is selected from lines by their order."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Ordering(torch.nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        values, order = x.sort(dim=1)
        falling, _ = torch.sort(x, dim=0, descending=True, stable=True)
        quantiles = torch.quantile(x, torch.tensor([0.1, 0.5, 0.9]), dim=1)
        modes, _ = x.round().mode(1)
        return (
            *(values, order, falling, x.argsort(0), torch.msort(x), modes, *x.kthvalue(2)),
            *(quantiles, torch.quantile(x, 0.25), torch.nanquantile(x, 0.3, dim=0, keepdim=True)),
            *(x.median(), *x.median(1), x.nanmedian(), *x.nanmedian(0)),
        )


def _rows(count: int) -> tuple[Tensor]:
    return (torch.randn(count, 6, generator=torch.Generator().manual_seed(count)),)


def get_model() -> tuple[torch.nn.Module, tuple[Tensor]]:
    return Ordering(), _rows(4)


def get_dynamic_shapes() -> dict[str, Any]:
    return {"x": {0: torch.export.Dim("rows", min=2, max=70)}}


def get_sample_inputs() -> list[tuple[Tensor]]:
    return [_rows(4), _rows(2), _rows(70), (torch.tensor([[3.0, torch.nan, 1.0, -0.0, torch.inf, 0.5]] * 3),)]
