"""What my_ops::mul4 is tested with."""

import examples.custom_ops.custom_ops_mul4_lib  # noqa: F401  (defines my_ops::mul4)
import torch


def get_samples() -> list[tuple[torch.Tensor]]:
    """The entry point of torch_op_test."""
    return [(torch.randn(5, 2),), (torch.randn(3, 4).t(),), (torch.randn(()),), (torch.randn(0, 3),)]
