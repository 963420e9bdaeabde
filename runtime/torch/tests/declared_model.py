"""A model of operators that C++ declares."""

import torch

import runtime.torch.tests.custom_ops_declared  # noqa: F401  (defines them)


class Model(torch.nn.Module):
    """float32 [2, 3] -> float32 [2, 3], float32 [], float32 []."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        half = torch.ops.declared.halve(x)
        return (half, *torch.ops.declared.range(half))


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Model(), (torch.randn(2, 3),)
