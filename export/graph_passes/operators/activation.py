"""Activations that operators of this project apply to their results, by name, for PyTorch.

kernels/math/activation.h has the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import torch
from torch.nn import functional

from export.graph_passes.calls import Activation
from export.graph_passes.operators.registration import implements

# The functions of a tensor and two parameters. An activation with fewer parameters ignores the others.
_FUNCTIONS: Mapping[str, Callable[[torch.Tensor, float, float], torch.Tensor]] = {
    "celu": lambda x, alpha, _: functional.celu(x, alpha),
    "clamp": lambda x, minimum, maximum: x.clamp(minimum, maximum),
    "elu": torch.ops.aten.elu,
    "gelu": lambda x, *_: functional.gelu(x),
    "gelu_tanh": lambda x, *_: functional.gelu(x, approximate="tanh"),
    "hardshrink": lambda x, lambd, _: functional.hardshrink(x, lambd),
    "hardsigmoid": lambda x, *_: functional.hardsigmoid(x),
    "hardswish": lambda x, *_: functional.hardswish(x),
    "leaky_relu": lambda x, slope, _: functional.leaky_relu(x, slope),
    "logsigmoid": lambda x, *_: functional.logsigmoid(x),
    "mish": lambda x, *_: functional.mish(x),
    "none": lambda x, *_: x,
    "sigmoid": lambda x, *_: torch.sigmoid(x),
    "silu": lambda x, *_: functional.silu(x),
    "softplus": functional.softplus,
    "softshrink": lambda x, lambd, _: functional.softshrink(x, lambd),
    "softsign": lambda x, *_: functional.softsign(x),
    "swish": lambda x, beta, _: x * torch.sigmoid(x * beta),
    "tanh": lambda x, *_: torch.tanh(x),
    "tanhshrink": lambda x, *_: functional.tanhshrink(x),
    "threshold": functional.threshold,
}


class Activated(Protocol):
    """A call of an operator with an activation.

    `minimum` and `maximum` are the bounds of `clamp`, or the first and the second parameter of another activation.
    """

    @property
    def activation(self) -> str: ...
    @property
    def minimum(self) -> float: ...
    @property
    def maximum(self) -> float: ...


def apply(call: Activated, x: torch.Tensor) -> torch.Tensor:
    """Applies a call's activation to a tensor."""
    return _FUNCTIONS[call.activation](x, call.minimum, call.maximum)


@implements(Activation)
def activation(call: Activation[torch.Tensor]) -> torch.Tensor:
    return apply(call, call.input)
