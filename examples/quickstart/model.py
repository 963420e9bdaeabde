"""A two-layer perceptron with a custom activation."""

import squareplus_op  # noqa: F401  (registers my_ops::squareplus)
import torch


class Perceptron(torch.nn.Module):
    """float32 [N, 8] -> float32 [N, 4]."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(8, 16)
        self.output = torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(torch.ops.my_ops.squareplus(self.hidden(x), 4.0))


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program: the module and its example inputs."""
    torch.manual_seed(0)
    return Perceptron().eval(), (torch.randn(2, 8),)
