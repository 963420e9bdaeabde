"""State: buffers that keep their contents from call to call, one of which does not begin with zeros."""

from __future__ import annotations

import torch
from torch import nn


class Filter(nn.Module):
    """Smooths a signal, and counts the calls."""

    mean: torch.Tensor
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.linspace(-1, 1, 8))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.mean.mul_(0.75).add_(0.25 * x)
        self.calls.add_(1)
        return self.mean + 0, self.calls + 0


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return Filter(), (torch.ones(8),)


def get_sample_inputs() -> list[tuple[torch.Tensor]]:
    return [(torch.full((8,), float(i)),) for i in range(4)]
