"""Activations that operators of this project apply to their results, by name, for PyTorch.

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
    """A call of an operator with an activation. `minimum` and `maximum` are the bounds of `clamp`."""

    @property
    def activation(self) -> str: ...
    @property
    def minimum(self) -> float: ...
    @property
    def maximum(self) -> float: ...


def apply(call: Activated, x: torch.Tensor) -> torch.Tensor:
    """Applies a call's activation to a tensor."""
    return x.clamp(call.minimum, call.maximum) if call.activation == "clamp" else _FUNCTIONS[call.activation](x)
