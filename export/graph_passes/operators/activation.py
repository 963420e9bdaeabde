"""The functions that operators of this project apply to their results: their names in programs, for PyTorch.

kernels/math/activation.h has the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import torch
from torch.nn import functional

_FUNCTIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda x: x,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
}


class Activated(Protocol):
    """A call of an operator with an activation. The numbers are the bounds of `clamp`."""

    @property
    def activation(self) -> str: ...
    @property
    def minimum(self) -> float: ...
    @property
    def maximum(self) -> float: ...


def apply(call: Activated, x: torch.Tensor) -> torch.Tensor:
    """The function of a tensor that a call applies."""
    return x.clamp(call.minimum, call.maximum) if call.activation == "clamp" else _FUNCTIONS[call.activation](x)
