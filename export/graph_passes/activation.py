"""The functions that operators of this project apply to their results: their names in programs, for PyTorch.

kernels/common/activation.h has the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch.nn import functional

# What an operator with an activation takes last. The numbers are the bounds of "clamp".
ARGUMENTS = "str activation='none', float minimum=0.0, float maximum=0.0"

_FUNCTIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda x: x,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
}


def apply(x: torch.Tensor, activation: str, minimum: float, maximum: float) -> torch.Tensor:
    """The function of a tensor."""
    return x.clamp(minimum, maximum) if activation == "clamp" else _FUNCTIONS[activation](x)
