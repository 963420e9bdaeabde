"""A model whose layer is large enough for several threads."""

import torch


class Model(torch.nn.Module):
    """float32 [64, 256] -> float32 [64, 256]."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(256, 256)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(x))


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Model(), (torch.ones(64, 256),)
