"""What to test both matmul operators with."""

from typing import Any

import examples.torch_matmul.matmul_ops
import torch

import examples.torch_matmul.other_matmul  # noqa: F401 (loads the other library)


def get_samples() -> list[Any]:
    """The entry point of torch_op_test: arguments of one call each."""
    return [
        (torch.randn(3, 4), torch.randn(4, 5)),
        (torch.randn(4, 3).t(), torch.randn(5, 4).t()),
        (torch.randn(2, 0), torch.randn(0, 3)),
        (torch.randn(0, 4), torch.randn(4, 1)),
    ]
