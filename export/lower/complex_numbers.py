"""Decompositions of operators of complex numbers, for which there are no kernels, into operators with kernels.

The functions of real numbers keep their kernels: a decomposition of real operands is NotImplemented, which PyTorch
takes as none. For infinite numbers and NaN, a part of the result may be NaN where PyTorch has a number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

_aten = torch.ops.aten

# Where the hyperbolic tangent is 1 up to the rounding, and the square of the hyperbolic sine does not overflow.
_LARGE = 20.0


def _of_parts(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor], Tensor | Any]:
    """Returns the decomposition of a function of one complex tensor, given a function of its parts."""

    @functools.wraps(function)
    def decomposition(x: Tensor) -> Tensor | Any:
        if x.dtype not in (torch.complex64, torch.complex128):
            return NotImplemented
        return function(x.real, x.imag)

    return decomposition


def _exp(re: Tensor, im: Tensor) -> Tensor:
    size = re.exp()
    # Real numbers stay real, also where the exponential overflows. The result of -inf is 0 for all imaginary parts.
    direction = torch.where(size == 0, 0.0, im)
    return torch.complex(size * direction.cos(), torch.where(im == 0, im, size * direction.sin()))


def _log(re: Tensor, im: Tensor) -> Tensor:
    z = torch.complex(re, im)
    return torch.complex(z.abs().log(), z.angle())


def _neg(re: Tensor, im: Tensor) -> Tensor:
    return torch.complex(-re, -im)


def _reciprocal(re: Tensor, im: Tensor) -> Tensor:
    return torch.ones_like(re) / torch.complex(re, im)


def _sqrt(re: Tensor, im: Tensor) -> Tensor:
    # The larger part has no cancellation. The other one is the imaginary part, divided by twice the larger one.
    larger = ((re.abs() + torch.complex(re, im).abs()) / 2).sqrt()
    smaller = torch.where(larger == 0, im, im / (2 * larger))
    return torch.complex(
        torch.where(re < 0, smaller.abs(), larger), torch.where(re < 0, torch.copysign(larger, im), smaller)
    )


def _tanh(re: Tensor, im: Tensor) -> Tensor:
    # Kahan, "Branch Cuts for Complex Elementary Functions" (1987)
    tangent = im.tan()
    beta = 1 + tangent * tangent
    sinh = re.clamp(-_LARGE, _LARGE).sinh()
    below = 1 + beta * sinh * sinh
    return torch.complex(beta * (1 + sinh * sinh).sqrt() * sinh / below, tangent / below)


def _conj(x: Tensor) -> Tensor:
    # PyTorch marks a tensor as conjugated. A program has the numbers.
    return _aten._conj_physical.default(x) if x.is_complex() else x.clone()


def _view_as_complex(x: Tensor) -> Tensor:
    # The copy of a program, view_as_complex_copy, has no derivative: PyTorch refuses it after layers with parameters.
    return torch.complex(x.select(-1, 0), x.select(-1, 1))


def _with_constant(operator: OpOverload) -> Callable[..., Any]:
    """Returns the decomposition of an operator of two operands that makes a complex number a tensor.

    A program has no complex numbers as arguments.
    """

    def decomposition(one: Tensor, other: Tensor | complex, **options: Any) -> Tensor | Any:
        if not isinstance(other, complex):
            return NotImplemented
        dtype = torch.result_type(one, other).to_real()
        parts = (torch.full((), part, dtype=dtype) for part in (other.real, other.imag))
        return operator(one, torch.complex(*parts), **options)

    return decomposition


COMPLEX_DECOMPOSITIONS: Mapping[OpOverload, Callable[..., Any]] = {
    _aten._conj.default: _conj,
    _aten._neg_view.default: torch.neg,
    _aten.add.Tensor: _with_constant(_aten.add.Tensor),
    _aten.div.Tensor: _with_constant(_aten.div.Tensor),
    _aten.exp.default: _of_parts(_exp),
    _aten.log.default: _of_parts(_log),
    _aten.mul.Tensor: _with_constant(_aten.mul.Tensor),
    _aten.neg.default: _of_parts(_neg),
    _aten.reciprocal.default: _of_parts(_reciprocal),
    _aten.sqrt.default: _of_parts(_sqrt),
    _aten.sub.Tensor: _with_constant(_aten.sub.Tensor),
    _aten.tanh.default: _of_parts(_tanh),
    _aten.view_as_complex.default: _view_as_complex,
}
