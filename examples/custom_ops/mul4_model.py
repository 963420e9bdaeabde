"""A model that is one call of my_ops::mul4, whose kernel in C++ computes it here as in the program."""

import examples.custom_ops.custom_ops_mul4_lib  # noqa: F401  (defines my_ops::mul4)
import torch


class Mul4(torch.nn.Module):
    """float32 [5, 2] -> float32 [5, 2]."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.my_ops.mul4(x)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Mul4(), (torch.randn(5, 2),)
