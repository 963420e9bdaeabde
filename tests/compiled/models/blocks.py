"""A convolutional network of the blocks of small vision models: depthwise layers, gates, residuals."""

from __future__ import annotations

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(channels, 24, 1, bias=False), nn.BatchNorm2d(24), nn.SiLU())
        self.depthwise = nn.Sequential(nn.Conv2d(24, 24, 3, padding=1, groups=24), nn.BatchNorm2d(24), nn.ReLU6())
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(24, 24, 1), nn.Sigmoid())
        self.project = nn.Conv2d(24, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.depthwise(self.expand(x))
        result: torch.Tensor = x + self.project(y * self.gate(y))
        return result


def get_model() -> tuple[nn.Module, tuple[torch.Tensor]]:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1),
        nn.GELU(),
        Block(8),
        nn.Conv2d(8, 20, 3, padding=2, dilation=2, groups=2),
        nn.GELU(approximate="tanh"),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(320, 10),
        nn.Softmax(dim=-1),
    ).eval()
    return model, (torch.randn(2, 3, 16, 16),)
