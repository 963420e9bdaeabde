"""Decompositions that an export adds to ExecuTorch's: of operators without kernels, into operators with kernels.

A decomposition gives the results of the operator, NaN, infinities and negative zero included. Where PyTorch has such a
decomposition, the table has it. The others are functions of this file and of `complex_numbers.py`: a function takes the
operator's arguments, and calls PyTorch's functions, which PyTorch decomposes further. The tests of both files compare a
call of each operator with PyTorch.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch._prims_common import (
    ELEMENTWISE_TYPE_PROMOTION_KIND,
    compute_elementwise_output_logical_to_physical_perm,
    elementwise_dtypes,
)

from export.lower.complex_numbers import COMPLEX_DECOMPOSITIONS

_aten = torch.ops.aten

_Number = int | float | bool

# The defaults of aten::_embedding_bag: scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
# padding_idx. Mode 0 is the sum.
_BAG_OPTIONS = (False, 0, False, None, False, -1)
# The dtypes of whole numbers with the bits of floats.
_BITS = {
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float32: torch.int32,
    torch.float64: torch.int64,
}


def _promoted(one: Tensor, other: Tensor | _Number, kind: ELEMENTWISE_TYPE_PROMOTION_KIND) -> tuple[Any, Any]:
    """Returns two operands with the dtype of the result."""
    _, dtype = elementwise_dtypes(one, other, type_promotion_kind=kind)
    return one.to(dtype), other.to(dtype) if isinstance(other, Tensor) else other


def _addmv(bias: Tensor, matrix: Tensor, vector: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
    column = bias.expand(matrix.shape[0]).unsqueeze(1)
    return torch.addmm(column, matrix, vector.unsqueeze(1), beta=beta, alpha=alpha).squeeze(1)


def _addbmm(bias: Tensor, one: Tensor, other: Tensor, *, beta: _Number = 1, alpha: _Number = 1) -> Tensor:
    # The sum of the products of the batches is the product of the matrices side by side.
    side_by_side = one.permute(1, 0, 2).reshape(one.shape[1], one.shape[0] * one.shape[2])
    return torch.addmm(bias, side_by_side, other.reshape(-1, other.shape[2]), beta=beta, alpha=alpha)


def _signbit(x: Tensor) -> Tensor:
    if x.dtype in _BITS:
        return x.view(_BITS[x.dtype]) < 0
    if x.dtype == torch.bool or not x.dtype.is_signed:
        return torch.zeros_like(x, dtype=torch.bool)
    return x < 0


def _copysign(x: Tensor, sign: Tensor | _Number) -> Tensor:
    x, sign = _promoted(x, sign, ELEMENTWISE_TYPE_PROMOTION_KIND.INT_TO_FLOAT)
    size = x.abs()
    if isinstance(sign, Tensor):
        return torch.where(_signbit(sign), -size, size)
    return -size if math.copysign(1, sign) < 0 else size


def _without_nan(
    of_integers: Callable[..., Tensor], is_first: Callable[..., Any], one: Tensor, other: Tensor
) -> Tensor:
    """Returns the maximum or the minimum; where one operand is NaN, the other one."""
    one, other = _promoted(one, other, ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)
    if not one.dtype.is_floating_point:
        return of_integers(one, other)
    return torch.where(is_first(one, other) | other.isnan(), one, other)


def _ldexp(x: Tensor, exponent: Tensor) -> Tensor:
    if exponent.dtype.is_floating_point or not x.dtype.is_floating_point:
        return x * torch.pow(2.0, exponent)
    wide = x.float() if x.dtype.itemsize < torch.float32.itemsize else x
    _, dtype = elementwise_dtypes(x, exponent, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)
    # Three factors that are finite and no subnormal numbers. Only the product with the last one has a rounding error.
    mantissa, bias = (52, 1023) if wide.dtype == torch.float64 else (23, 127)
    bits = _BITS[wide.dtype]
    last = exponent.to(torch.int64).clamp(1 - bias, bias)
    rest = exponent.to(torch.int64).clamp(-9 * bias, 9 * bias) - last
    middle = rest.clamp(1 - bias, bias)
    first = (rest - middle).clamp(1 - bias, bias)
    for power in (first, middle, last):
        wide = wide * torch.bitwise_left_shift((power + bias).to(bits), mantissa).view(wide.dtype)
    return wide.to(dtype)


def _put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    flat = x.reshape(-1).index_put((index.reshape(-1),), source.reshape(-1), accumulate)
    return flat.reshape(x.shape)


def _scatter_reduced(x: Tensor, dim: int, index: Tensor, source: Tensor | _Number, *, reduce: str) -> Tensor:
    if not isinstance(source, Tensor):
        source = torch.full(index.shape, source, dtype=x.dtype)
    return torch.scatter_reduce(x, dim, index, source, {"add": "sum", "multiply": "prod"}[reduce])


def _embedding_renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    norms = torch.linalg.vector_norm(weight, norm_type, 1, keepdim=True)
    is_used = torch.zeros(weight.shape[0], 1, dtype=torch.bool).index_fill(0, indices.reshape(-1), True)
    return torch.where(is_used & (norms > max_norm), weight * (max_norm / (norms + 1e-7)), weight)


def _round_decimals(x: Tensor, *, decimals: int) -> Tensor:
    if decimals == 0:
        return x.round()
    # PyTorch computes with floats of half precision in float.
    wide = x.float() if x.dtype.itemsize < torch.float32.itemsize else x
    power = 10.0 ** abs(decimals)
    rounded = (wide * power).round() / power if decimals > 0 else (wide / power).round() * power
    return rounded.to(x.dtype)


def _diagonal_scatter(x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    matrices = x.movedim((dim1, dim2), (-2, -1))
    steps = torch.arange(source.shape[-1])
    at = (steps + max(-offset, 0), steps + max(offset, 0))
    written: Tensor = _aten.index_put(matrices, [*[None] * (x.dim() - 2), *at], source)
    return written.movedim((-2, -1), (dim1, dim2))


def _as_strided_scatter(
    x: Tensor, source: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor | Any:
    if not x.is_contiguous():
        return NotImplemented
    places = torch.full([], storage_offset or 0)
    for dim, (count, step) in enumerate(zip(size, stride, strict=True)):
        places = places + (torch.arange(count) * step).reshape([-1 if one == dim else 1 for one in range(len(size))])
    return _put(x, places, source)


def _of_number(function: Callable[..., Tensor], number: _Number, other: Tensor) -> Tensor:
    return function(torch.full((), number, dtype=torch.result_type(number, other)), other)


# PyTorch checks these results by an operator of its own, to which the lowering gives tokens for the order of effects.
# The kernels check them as well, and fail as PyTorch raises.


def _cholesky(matrix: Tensor, *, upper: bool = False) -> Any:
    return _aten.linalg_cholesky_ex(matrix, upper=upper, check_errors=True)[0]


def _inverse(matrix: Tensor) -> Any:
    return _aten.linalg_inv_ex(matrix, check_errors=True)[0]


def _tensor_inverse(x: Tensor, ind: int = 2) -> Tensor:
    rows = math.prod(x.shape[:ind])
    inverse: Tensor = _aten.linalg_inv_ex(x.reshape(rows, -1), check_errors=True)[0]
    return inverse.reshape(*x.shape[ind:], *x.shape[:ind])


def _lu_factor(matrix: Tensor, *, pivot: bool = True) -> Any:
    return _aten.linalg_lu_factor_ex(matrix, pivot=pivot, check_errors=True)[:2]


def _solve(matrix: Tensor, right_side: Tensor, *, left: bool = True) -> Any:
    return _aten._linalg_solve_ex(matrix, right_side, left=left, check_errors=True)[0]


def _pinv(matrix: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False) -> Tensor:
    if rtol is None:
        rounding = torch.finfo(matrix.dtype).eps * max(matrix.shape[-2:])
        rtol = torch.full((), rounding, dtype=matrix.dtype)
        if atol is not None:
            rtol = torch.where(atol > 0, torch.zeros_like(rtol), rtol)
    if hermitian:
        values, vectors = torch.linalg.eigh(matrix)
        left, right = vectors, vectors.mT
    else:
        u, values, vh = torch.linalg.svd(matrix, full_matrices=False)
        left, right = vh.mT, u.mT
    sizes = values.abs()
    least = rtol.unsqueeze(-1) * sizes.amax(-1, keepdim=True)
    if atol is not None:
        least = torch.maximum(atol.unsqueeze(-1), least)
    inverses = torch.where(sizes > least, values.reciprocal(), torch.zeros_like(values))
    return torch.matmul(left * inverses.unsqueeze(-2), right)


def _embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor, *given: Any) -> Any:
    options = [*given, *_BAG_OPTIONS[len(given) :]]
    _, mode, *_, padding = options
    if weight.dtype != torch.bfloat16 or mode != 0 or padding >= 0:
        return NotImplemented
    # PyTorch's fake kernel gives a result for gradients other sizes than PyTorch's kernel does. With a padding, which
    # here is no row, the sizes are the same.
    return _aten._embedding_bag(weight, indices, offsets, *options[:-1], weight.shape[0])


def _rrelu(
    x: Tensor,
    noise: Tensor,
    lower: _Number = 1 / 8,
    upper: _Number = 1 / 3,
    training: bool = False,
    *_: Any,
) -> tuple[Tensor, Tensor] | Any:
    if training:
        return NotImplemented
    return torch.nn.functional.leaky_relu(x, (lower + upper) / 2), noise.clone()


def _bernoulli(x: Tensor, probability: Tensor | float, *, generator: torch.Generator | None = None) -> Tensor:
    return (torch.rand(x.shape) < probability).to(x.dtype)


def _empty(size: Sequence[Any], *, memory_format: torch.memory_format | None = None, **options: Any) -> Tensor | Any:
    if all(isinstance(one, int) for one in size):
        return NotImplemented
    # ExecuTorch's operator of tensors without values takes numbers: each open size would become that of the example.
    return torch.zeros(size, **options).contiguous(memory_format=memory_format or torch.contiguous_format)


def _normal_functional(x: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    return torch.randn_like(x) * std + mean


def _trilinear(one: Tensor, two: Tensor, three: Tensor, *dims: Any) -> Tensor:
    *expanded, summed = dims[:4]  # The last argument is a hint.
    if [*expanded, summed] == [[1, 3], [0], [1, 2], [2, 3]]:  # torch.nn.Bilinear
        pairs = one.unsqueeze(2) * three.unsqueeze(1)
        return torch.nn.functional.linear(pairs.flatten(1), two.flatten(1))
    factors = [one, two, three]
    for index, of in enumerate(expanded):
        for dim in of:
            factors[index] = factors[index].unsqueeze(dim)
    product = factors[0] * factors[1] * factors[2]
    return product.sum([*summed]) if summed else product


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    # As PyTorch's decomposition, but the result has the order of the query's dimensions in memory, as the operator's
    # has. PyTorch's decomposition gives the order of torch.nn.MultiheadAttention, so that views of the result, which
    # were possible in the exported program, fail in the lowering.
    result, weights = _aten._scaled_dot_product_attention_math(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=query.shape[1] != key.shape[1]
    )
    order, _ = compute_elementwise_output_logical_to_physical_perm(query)
    if order == sorted(order):
        return result, weights
    return result.permute(order).contiguous().permute([order.index(dim) for dim in range(len(order))]), weights


def _empty_permuted(size: Sequence[int], physical_layout: Sequence[int], **options: Any) -> Tensor:
    order = [*physical_layout]
    memory = torch.empty([size[dim] for dim in order], **options)
    return memory.permute([order.index(dim) for dim in range(len(order))])


def _empty_strided(size: Sequence[int], stride: Sequence[int], **options: Any) -> Tensor:
    # The memory of a tensor of a program is dense.
    return _empty_permuted(size, sorted(range(len(size)), key=lambda dim: -stride[dim]), **options)


DECOMPOSITIONS: Mapping[OpOverload, Callable[..., Any]] = {
    **COMPLEX_DECOMPOSITIONS,
    _aten.__lshift__.Scalar: torch.bitwise_left_shift,
    _aten.__lshift__.Tensor: torch.bitwise_left_shift,
    _aten.__rshift__.Scalar: torch.bitwise_right_shift,
    _aten.__rshift__.Tensor: torch.bitwise_right_shift,
    _aten._embedding_bag.default: _embedding_bag,
    _aten._embedding_bag_forward_only.default: _aten._embedding_bag,
    _aten._native_batch_norm_legit_functional.default: decomposition_table[
        _aten._native_batch_norm_legit_functional.default
    ],
    _aten._scaled_dot_product_flash_attention_for_cpu.default: _attention,
    _aten._trilinear.default: _trilinear,
    _aten.addbmm.default: _addbmm,
    _aten.addmv.default: _addmv,
    _aten.as_strided_scatter.default: _as_strided_scatter,
    _aten.bernoulli.Tensor: _bernoulli,
    _aten.bernoulli.p: _bernoulli,
    _aten.bitwise_left_shift.Scalar_Tensor: functools.partial(_of_number, torch.bitwise_left_shift),
    _aten.bitwise_right_shift.Scalar_Tensor: functools.partial(_of_number, torch.bitwise_right_shift),
    _aten.copysign.Scalar: _copysign,
    _aten.copysign.Tensor: _copysign,
    _aten.diagonal_scatter.default: _diagonal_scatter,
    _aten.dist.default: decomposition_table[_aten.dist.default],
    _aten.empty.memory_format: _empty,
    _aten.empty_permuted.default: _empty_permuted,
    _aten.empty_strided.default: _empty_strided,
    _aten.embedding_renorm.default: _embedding_renorm,
    _aten.exp2.default: functools.partial(torch.pow, 2.0),
    _aten.fmax.default: functools.partial(_without_nan, torch.maximum, operator.ge),
    _aten.fmin.default: functools.partial(_without_nan, torch.minimum, operator.le),
    _aten.ldexp.Tensor: _ldexp,
    _aten.inverse.default: _inverse,
    _aten.linalg_cholesky.default: _cholesky,
    _aten.linalg_inv.default: _inverse,
    _aten.linalg_lu_factor.default: _lu_factor,
    _aten.linalg_pinv.atol_rtol_tensor: _pinv,
    _aten.linalg_solve.default: _solve,
    _aten.linalg_tensorinv.default: _tensor_inverse,
    _aten.normal_functional.default: _normal_functional,
    _aten.put.default: _put,
    _aten.remainder.Scalar_Tensor: functools.partial(_of_number, torch.remainder),
    _aten.round.decimals: _round_decimals,
    _aten.rrelu_with_noise_functional.default: _rrelu,
    _aten.scatter.reduce: _scatter_reduced,
    _aten.scatter.value_reduce: _scatter_reduced,
    _aten.signbit.default: _signbit,
    _aten.tril_indices.default: decomposition_table[_aten.tril_indices.default],
    _aten.triu_indices.default: decomposition_table[_aten.triu_indices.default],
    # PyTorch's decomposition of torch.renorm calls it.
    torch.ops.prims.convert_element_type.default: Tensor.to,
}
