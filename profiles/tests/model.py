"""A network with modules in modules, whose lines of Python a profile shows."""

from __future__ import annotations

import torch


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Block()
        self.second = Block()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled = x * x
        hidden = self.first(scaled)
        return torch.softmax(self.second(hidden), dim=-1)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    return Network(), (torch.randn(16, 64),)
