"""A model that is one call of my_ops::mul3."""

import torch

from examples.custom_ops import mul3_op  # noqa: F401  (registers my_ops::mul3)


class Mul3(torch.nn.Module):
    """float32 [5, 2] -> float32 [5, 2]."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.my_ops.mul3(x)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Mul3(), (torch.randn(5, 2),)
