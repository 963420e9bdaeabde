"""What to test my_ops::softclip with."""

from typing import Any

import torch

from examples.python_op import softclip_op  # noqa: F401  (registers my_ops::softclip)


def get_samples() -> list[Any]:
    """The entry point of torch_op_test: arguments of one call each."""
    return [
        (torch.randn(4, 3, dtype=torch.float64, requires_grad=True), 1.0),
        (torch.randn(2, 3, 4, requires_grad=True), 0.5),
        (torch.randn(3, 5).t(), 2.0),
        (torch.tensor(-7.0), 3.0),
        ((torch.empty(0, 3),), {"limit": 1.0}),
    ]
