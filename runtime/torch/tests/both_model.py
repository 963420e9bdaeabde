"""A model of operators that have a kernel for PyTorch and one for programs."""

import torch

import runtime.torch.tests.custom_ops_both  # noqa: F401  (defines them)


class Model(torch.nn.Module):
    """float32 [2, 3, 4] -> float32 [2, 3], int64 [2, 3]."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ops.both.largest(torch.ops.both.scale(x, -2.0))


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Model(), (torch.randn(2, 3, 4),)
