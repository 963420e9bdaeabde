"""Random numbers, which the outputs do not show."""

from __future__ import annotations

import torch
from torch import nn


class Noise(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # The numbers are at least 0 and less than 1.
        return x + torch.rand_like(x).floor()


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    return Noise(), (torch.arange(12.0).reshape(3, 4),)
