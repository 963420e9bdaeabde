"""Adds two tensors: `aten::add.out` alone."""

import torch


class Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    return Add(), (torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.5], [0.25]]))
