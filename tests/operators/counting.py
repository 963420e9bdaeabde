"""Histograms, counts, and searches in sorted lines."""

from __future__ import annotations

import torch
from torch import Tensor


class Counting(torch.nn.Module):
    def forward(self, x: Tensor, numbers: Tensor) -> tuple[Tensor, ...]:
        # The numbers determine how long the counts are, so that the program needs a bound.
        counts = torch.bincount(numbers, minlength=3)
        torch._check(counts.shape[0] <= 10)
        weighted = torch.bincount(numbers, weights=x[0])
        torch._check(weighted.shape[0] <= 10)
        borders = torch.tensor([-1.0, 0.0, 1.5])
        return (
            *(counts, weighted, torch.histc(x, 10), torch.histc(x, 4, -1, 1)),
            *torch.histogram(x, 8, range=(-2.0, 2.0)),
            *(torch.searchsorted(x.sort(1)[0], x, right=True), torch.searchsorted(borders, 0.0, side="right")),
            *(torch.bucketize(x, borders), torch.bucketize(0.5, borders, out_int32=True)),
        )


def _inputs(most: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(most)
    return torch.randn(4, 9, generator=generator), torch.randint(0, most, (9,), generator=generator)


def get_model() -> tuple[torch.nn.Module, tuple[Tensor, Tensor]]:
    return Counting(), _inputs(5)


def get_sample_inputs() -> list[tuple[Tensor, Tensor]]:
    return [_inputs(5), _inputs(10), _inputs(1)]
