"""A model of operators with lists, optionals, scalars, several results."""

import torch

import runtime.torch.tests.custom_ops_bridge  # noqa: F401  (defines them)


class Model(torch.nn.Module):
    """float32 [2, 3, 4] -> float32 [2, 3], int64 [2, 3], float32 [6, 4], float32 [2, 3, 4], bool [2, 3]."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ops = torch.ops.bridge
        values, indices = ops.largest(ops.scale(x, 2.5))
        joined = ops.join([x, ops.scale(x, 3)], [None, x], [0.5, 2.0], [6, 4], [True, False], "sum", None)
        negative = ops.join([x, x], [None], [0.5, 2.0], None, [True, True], "difference", x)
        return values, indices, joined, ops.checked(negative), ops.is_even(indices)


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The entry point of executorch_program."""
    torch.manual_seed(0)
    return Model(), (torch.randn(2, 3, 4),)
