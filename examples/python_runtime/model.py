"""A model of two layers."""

import torch


class Model(torch.nn.Module):
    """float32 [2, 8] -> float32 [2, 3]."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layers(x), dim=-1)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Model(), (torch.randn(2, 8),)
