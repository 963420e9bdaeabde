"""A model that calls both operators of the package."""

import torch

from examples.qnn_op_package import operators  # noqa: F401  (registers my_ops::mul3 and my_ops::scaled_halves)


class Model(torch.nn.Module):
    """float32 [1, 2, 4, 8] -> two of float32 [1, 2, 4, 4]."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first, second = torch.ops.my_ops.scaled_halves(torch.ops.my_ops.mul3(x) + 1, 1.5)
        return first, second


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Model(), (torch.randn(1, 2, 4, 8),)
