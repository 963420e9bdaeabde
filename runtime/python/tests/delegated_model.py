"""A layer for XNNPACK, and an operator with a kernel."""

import torch


class Layer(torch.nn.Module):
    """float32 [4, 32] -> float32 [4, 16], int64 [4]."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self.linear(x)
        return y, y.argmax(dim=1)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Layer(), (torch.randn(4, 32),)
