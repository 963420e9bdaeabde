"""Two methods of one model, which share weights."""

from __future__ import annotations

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.weight).relu()


class Decoder(nn.Module):
    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight.T


def get_model() -> dict[str, tuple[nn.Module, tuple[torch.Tensor]]]:
    torch.manual_seed(0)
    weight = nn.Parameter(torch.randn(16, 4))
    return {
        "encode": (Encoder(weight), (torch.randn(2, 16),)),
        "decode_features": (Decoder(weight), (torch.randn(2, 4),)),
    }
