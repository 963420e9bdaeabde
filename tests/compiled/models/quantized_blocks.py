"""A convolutional network with a depthwise layer and a residual that PyTorch's own quantizer made 8-bit."""

from __future__ import annotations

from typing import Any

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torch import nn


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(12, 12, (5, 3), padding=(2, 1), groups=12), nn.Hardswish(), nn.Conv2d(12, 12, 1, groups=3)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = x + self.layers(x)
        return y


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 12, 3, stride=2, padding=1), nn.ReLU(), Residual(), nn.Flatten(), nn.Linear(432, 10)
    )
    return model, (torch.randn(1, 3, 12, 12),)


def get_quantizer() -> Any:
    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
