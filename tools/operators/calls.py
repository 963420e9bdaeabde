"""One call of each operator that programs can call: Core ATen's, and those that packages call."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch._ops import OpOverload

_aten = torch.ops.aten


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of an operator.

    Attributes:
        operator: the operator.
        args: the positional arguments. Tensors, in lists too, are inputs of the exported method.
        kwargs: the keyword arguments.
    """

    operator: OpOverload
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The operator's name, `aten::add.Tensor`."""
        return str(self.operator.name())


torch.manual_seed(0)
_X = torch.randn(4, 5)
_SQUARE = torch.randn(4, 4)
_POSITIVE = _SQUARE @ _SQUARE.T + torch.eye(4)
_WHOLE = torch.randint(1, 5, (4, 5))
_MASK = _X > 0
_COMPLEX = torch.complex(_X, _X)
_INDEX = torch.tensor([0, 2])
_LINE, _IMAGE, _VOLUME = torch.randn(1, 2, 8), torch.randn(1, 2, 8, 8), torch.randn(1, 2, 8, 8, 8)
_ROWS = torch.zeros(4, 5, dtype=torch.int64)

_UNARY = """
    abs acos acosh alias angle any argmax argmin asin asinh atan atanh ceil clone cos cosh detach digamma erf erfc
    erfinv exp exp2 expm1 floor frac frexp.Tensor gelu hardtanh i0 isinf isnan leaky_relu lgamma log log10 log1p
    log2 logical_not mean median min max mish nan_to_num nanmedian neg nonzero prod rand_like randn_like reciprocal
    relu round rsqrt sigmoid sign signbit silu sin sinc sinh softplus sort sqrt sum t_copy tan tanh trunc _to_copy
    elu bernoulli empty_like
"""
_BINARY = """
    add.Tensor atan2 copysign.Tensor copy div.Tensor eq.Tensor fmax fmin fmod.Tensor ge.Tensor gt.Tensor heaviside
    hypot ldexp.Tensor le.Tensor logaddexp logaddexp2 logical_and logical_or logical_xor lt.Tensor maximum minimum
    mul.Tensor ne.Tensor nextafter pow.Tensor_Tensor remainder.Tensor sub.Tensor xlogy.Tensor normal.Tensor_Tensor
    dist
"""
_WITH_NUMBER = """
    add.Scalar copysign.Scalar div.Scalar eq.Scalar fill.Scalar fmod.Scalar full_like ge.Scalar gt.Scalar le.Scalar
    lt.Scalar mul.Scalar ne.Scalar pow.Tensor_Scalar remainder.Scalar sub.Scalar
"""
_OF_NUMBER = "pow.Scalar remainder.Scalar_Tensor"
_UNARY_OF_WHOLE = "bincount bitwise_not _unique2 unique_consecutive"
_BINARY_OF_WHOLE = """
    __lshift__.Tensor __rshift__.Tensor bitwise_and.Tensor bitwise_left_shift.Tensor bitwise_or.Tensor
    bitwise_right_shift.Tensor bitwise_xor.Tensor floor_divide gcd isin.Tensor_Tensor
"""
_WITH_WHOLE_NUMBER = """
    __lshift__.Scalar __rshift__.Scalar bitwise_and.Scalar bitwise_left_shift.Tensor_Scalar bitwise_or.Scalar
    bitwise_right_shift.Tensor_Scalar bitwise_xor.Scalar
"""
_OF_WHOLE_NUMBER = "bitwise_left_shift.Scalar_Tensor bitwise_right_shift.Scalar_Tensor"
_WITH_DIM = """
    any.dim argsort cummax cummin cumprod cumsum logcumsumexp max.dim median.dim min.dim mode nanmedian.dim
    prod.dim_int squeeze.dim unique_dim unsqueeze
"""
_WITH_DIMS = "amax amin any.dims flip logsumexp mean.dim squeeze.dims sum.dim_IntList var.dim var.correction"
_OF_SQUARE = """
    det inverse linalg_det linalg_inv linalg_inv_ex linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_matrix_exp
    linalg_qr linalg_slogdet linalg_svd linalg_svdvals logdet slogdet trace tril triu _linalg_det _linalg_slogdet
    _linalg_svd linalg_pinv.atol_rtol_tensor linalg_vector_norm
"""
_OF_POSITIVE = "linalg_cholesky linalg_cholesky_ex linalg_eigh linalg_eigvalsh _linalg_eigh cholesky"
_OF_COMPLEX = "abs angle exp view_as_real"

_OTHERS: tuple[tuple[OpOverload, tuple[Any, ...], dict[str, Any]], ...] = (
    # Shapes and places.
    (_aten.as_strided.default, (_X, [2, 2], [1, 2]), {}),
    (_aten.cat.default, ([_X, _X],), {}),
    (_aten.constant_pad_nd.default, (_X, [1, 1]), {}),
    (_aten.diagonal.default, (_X,), {}),
    (_aten.expand.default, (_X, [2, 4, 5]), {}),
    (_aten.gather.default, (_X, 0, _ROWS), {}),
    (_aten.index.Tensor, (_X, [_INDEX]), {}),
    (_aten.index_put.default, (_X, [_INDEX], _X[:2]), {}),
    (_aten.index_add.default, (_X, 0, _INDEX, _X[:2]), {}),
    (_aten.index_copy.default, (_X, 0, _INDEX, _X[:2]), {}),
    (_aten.index_fill.int_Scalar, (_X, 0, _INDEX, 1.5), {}),
    (_aten.index_reduce.default, (_X, 0, _INDEX, _X[:2], "amax"), {}),
    (_aten.index_select.default, (_X, 0, _INDEX), {}),
    (_aten.masked_fill.Scalar, (_X, _MASK, 1.5), {}),
    (_aten.masked_scatter.default, (_X, _MASK, _X), {}),
    (_aten.masked_select.default, (_X, _MASK), {}),
    (_aten.permute.default, (_X, [1, 0]), {}),
    (_aten.pixel_shuffle.default, (torch.randn(1, 4, 2, 2), 2), {}),
    (_aten.pixel_unshuffle.default, (_IMAGE, 2), {}),
    (_aten.put.default, (_X, _INDEX, _X[0, :2]), {}),
    (_aten.repeat.default, (_X, [2, 1]), {}),
    (_aten.repeat_interleave.self_int, (_X, 2, 0), {}),
    (_aten.roll.default, (_X, [1], [0]), {}),
    (_aten.scatter.src, (_X, 0, _ROWS, _X), {}),
    (_aten.scatter.value, (_X, 0, _ROWS, 1.5), {}),
    (_aten.scatter_add.default, (_X, 0, _ROWS, _X), {}),
    (_aten.scatter_reduce.two, (_X, 0, _ROWS, _X, "mean"), {}),
    (_aten.select.int, (_X, 0, 1), {}),
    (_aten.select_scatter.default, (_X, _X[0], 0, 1), {}),
    (_aten.slice.Tensor, (_X, 0, 1, 3), {}),
    (_aten.slice_scatter.default, (_X, _X[:2], 0, 1, 3), {}),
    (_aten.split_with_sizes.default, (_X, [1, 3]), {}),
    (_aten.stack.default, ([_X, _X],), {}),
    (_aten.take.default, (_X, _INDEX), {}),
    (_aten.unfold.default, (_X, 0, 2, 1), {}),
    (_aten.view.default, (_X, [20]), {}),
    (_aten.view.dtype, (_X, torch.int32), {}),
    (_aten.where.self, (_MASK, _X, _X), {}),
    # New tensors.
    (_aten.arange.start_step, (0, 9, 2), {}),
    (_aten.empty.memory_format, ([2, 3],), {}),
    (_aten.empty_permuted.default, ([2, 3], [1, 0]), {}),
    (_aten.empty_strided.default, ([2, 3], [3, 1]), {}),
    (_aten.full.default, ([2, 3], 1.5), {}),
    (_aten.linspace.default, (0, 1, 5), {}),
    (_aten.ones.default, ([2, 3],), {}),
    (_aten.scalar_tensor.default, (1.5,), {}),
    (_aten.tril_indices.default, (3, 4), {}),
    (_aten.triu_indices.default, (3, 4), {}),
    (_aten.zeros.default, ([2, 3],), {}),
    # Random numbers.
    (_aten.exponential.default, (_X,), {}),
    (_aten.multinomial.default, (_MASK.float() + 1, 2), {}),
    (_aten.native_dropout.default, (_X, 0.5, True), {}),
    (_aten.normal.float_float, (0.0, 1.0, [2, 3]), {}),
    (_aten.normal.Tensor_float, (_X, 2.0), {}),
    (_aten.normal.float_Tensor, (0.0, _MASK.float()), {}),
    (_aten.rand.default, ([2, 3],), {}),
    (_aten.randint.default, (9, [2, 3]), {}),
    (_aten.randint.low, (-3, 9, [2, 3]), {}),
    (_aten.randint_like.default, (_X, 9), {}),
    (_aten.randint_like.low_dtype, (_X, -3, 9), {}),
    (_aten.randn.default, ([2, 3],), {}),
    (_aten.randperm.default, (7,), {}),
    (_aten.uniform.default, (_X,), {}),
    # Elements.
    (_aten.addcmul.default, (_X, _X, _X), {}),
    (_aten.clamp.default, (_X, -1, 1), {}),
    (_aten.clamp.Tensor, (_X, -_X, _X), {}),
    (_aten.complex.default, (_X, _X), {}),
    (_aten.div.Scalar_mode, (_X, 2), {"rounding_mode": "floor"}),
    (_aten.div.Tensor_mode, (_X, _X), {"rounding_mode": "trunc"}),
    (_aten.lerp.Scalar, (_X, _X, 0.3), {}),
    (_aten.polar.default, (_X, _X), {}),
    (_aten.round.decimals, (_X,), {"decimals": 2}),
    (_aten.rrelu_with_noise_functional.default, (_X, _X), {}),
    (_aten.view_as_complex.default, (torch.randn(3, 2),), {}),
    (_aten.mul.Tensor, (_COMPLEX, _COMPLEX), {}),
    (_aten.mm.default, (_COMPLEX, _COMPLEX.T.contiguous()), {}),
    # Reductions, and operators along a dimension.
    (_aten._log_softmax.default, (_X, 1, False), {}),
    (_aten._softmax.default, (_X, 1, False), {}),
    (_aten.bucketize.Tensor, (_X, _X[0].sort()[0]), {}),
    (_aten.count_nonzero.default, (_X,), {}),
    (_aten.histc.default, (_X,), {}),
    (_aten.histogram.bin_ct, (_X, 10), {}),
    (_aten.kthvalue.default, (_X, 2), {}),
    (_aten.nanquantile.scalar, (_X, 0.3, 1), {}),
    (_aten.quantile.scalar, (_X, 0.3, 1), {}),
    (_aten.renorm.default, (_X, 2, 0, 1.0), {}),
    (_aten.searchsorted.Tensor, (_X[0].sort()[0], _X), {}),
    (_aten.sort.stable, (_X,), {"stable": True}),
    (_aten.topk.default, (_X, 2), {}),
    (_aten.var_mean.correction, (_X,), {}),
    # Products and matrices.
    (_aten._cdist_forward.default, (_X, _X, 2.0, None), {}),
    (_aten._linalg_solve_ex.default, (_SQUARE, _SQUARE), {}),
    (_aten._pdist_forward.default, (_X,), {}),
    (_aten.addbmm.default, (_SQUARE, _SQUARE[None], _SQUARE[None]), {}),
    (_aten.addmm.default, (_SQUARE, _SQUARE, _SQUARE), {}),
    (_aten.addmv.default, (_SQUARE[0], _SQUARE, _SQUARE[0]), {}),
    (_aten.addr.default, (_SQUARE, _SQUARE[0], _SQUARE[0]), {}),
    (_aten.baddbmm.default, (_SQUARE[None], _SQUARE[None], _SQUARE[None]), {}),
    (_aten.bmm.default, (_SQUARE[None], _SQUARE[None]), {}),
    (_aten.cholesky_solve.default, (_SQUARE, _POSITIVE), {}),
    (_aten.linalg_cross.default, (_X[:, :3], _X[:, :3]), {}),
    (_aten.linalg_lu_solve.default, (*torch.linalg.lu_factor(_SQUARE), _SQUARE), {}),
    (_aten.lu_solve.default, (_SQUARE, *torch.linalg.lu_factor(_SQUARE)), {}),
    (_aten.linalg_lstsq.default, (_SQUARE, _SQUARE), {}),
    (_aten.linalg_matrix_norm.default, (_SQUARE, 2), {}),
    (_aten.linalg_matrix_power.default, (_SQUARE, 3), {}),
    (_aten.linalg_pinv.atol_rtol_float, (_SQUARE,), {}),
    (_aten.linalg_solve.default, (_SQUARE, _SQUARE), {}),
    (_aten.linalg_solve_triangular.default, (_POSITIVE, _SQUARE), {"upper": True}),
    (_aten.mm.default, (_SQUARE, _SQUARE), {}),
    # Layers.
    (_aten._embedding_bag.default, (_X, torch.tensor([0, 2, 1]), torch.tensor([0, 2])), {}),
    (_aten._native_batch_norm_legit.no_stats, (_IMAGE, None, None, True, 0.1, 1e-5), {}),
    (
        _aten._native_batch_norm_legit_no_training.default,
        (_IMAGE, None, None, torch.zeros(2), torch.ones(2), 0.1, 1e-5),
        {},
    ),
    (
        _aten.convolution.default,
        (_IMAGE, torch.randn(3, 2, 3, 3), None, [1] * 2, [0] * 2, [1] * 2, False, [0] * 2, 1),
        {},
    ),
    (_aten.embedding.default, (_X, _INDEX), {}),
    (_aten.native_group_norm.default, (_IMAGE, None, None, 1, 2, 64, 1, 1e-5), {}),
    (_aten.native_layer_norm.default, (_X, [5], None, None, 1e-5), {}),
    # Images, lines and volumes.
    (_aten._adaptive_avg_pool2d.default, (_IMAGE, [3, 3]), {}),
    (_aten._adaptive_avg_pool3d.default, (_VOLUME, [3, 3, 3]), {}),
    (_aten._upsample_bicubic2d_aa.default, (_IMAGE, [3, 3], False), {}),
    (_aten._upsample_bilinear2d_aa.default, (_IMAGE, [3, 3], False), {}),
    (_aten.adaptive_avg_pool1d.default, (_LINE, [3]), {}),
    (_aten.adaptive_max_pool1d.default, (_LINE, [3]), {}),
    (_aten.adaptive_max_pool2d.default, (_IMAGE, [3, 3]), {}),
    (_aten.adaptive_max_pool3d.default, (_VOLUME, [3, 3, 3]), {}),
    (_aten.avg_pool1d.default, (_LINE, [2]), {}),
    (_aten.avg_pool2d.default, (_IMAGE, [2, 2]), {}),
    (_aten.avg_pool3d.default, (_VOLUME, [2, 2, 2]), {}),
    (_aten.col2im.default, (torch.randn(1, 8, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]), {}),
    (_aten.fractional_max_pool2d.default, (_IMAGE, [2, 2], [3, 3], torch.rand(1, 2, 2)), {}),
    (_aten.grid_sampler_2d.default, (_IMAGE, torch.rand(1, 3, 3, 2), 0, 0, False), {}),
    (_aten.grid_sampler_3d.default, (_VOLUME, torch.rand(1, 3, 3, 3, 3), 0, 0, False), {}),
    (_aten.im2col.default, (_IMAGE, [2, 2], [1, 1], [0, 0], [1, 1]), {}),
    (_aten.max_pool2d_with_indices.default, (_IMAGE, [2, 2]), {}),
    (_aten.max_pool3d_with_indices.default, (_VOLUME, [2, 2, 2]), {}),
    (_aten.reflection_pad1d.default, (_LINE, [1, 1]), {}),
    (_aten.reflection_pad2d.default, (_IMAGE, [1] * 4), {}),
    (_aten.reflection_pad3d.default, (_VOLUME, [1] * 6), {}),
    (_aten.replication_pad1d.default, (_LINE, [1, 1]), {}),
    (_aten.replication_pad2d.default, (_IMAGE, [1] * 4), {}),
    (_aten.replication_pad3d.default, (_VOLUME, [1] * 6), {}),
    (_aten.upsample_bicubic2d.vec, (_IMAGE, [3, 3], False, None), {}),
    (_aten.upsample_bilinear2d.vec, (_IMAGE, [3, 3], False, None), {}),
    (_aten.upsample_linear1d.vec, (_LINE, [3], False, None), {}),
    (_aten.upsample_nearest2d.vec, (_IMAGE, [3, 3], None), {}),
    (_aten.upsample_nearest3d.vec, (_VOLUME, [3, 3, 3], None), {}),
    (_aten.upsample_trilinear3d.vec, (_VOLUME, [3, 3, 3], False, None), {}),
    # Spectra.
    (_aten._fft_c2c.default, (_COMPLEX, [1], 0, True), {}),
    (_aten._fft_c2r.default, (_COMPLEX, [1], 2, 8), {}),
    (_aten._fft_r2c.default, (_X, [1], 0, True), {}),
    # Gradients.
    (_aten._adaptive_avg_pool2d_backward.default, (_IMAGE[:, :, :3, :3], _IMAGE), {}),
    (
        _aten.avg_pool2d_backward.default,
        (_IMAGE[:, :, :4, :4], _IMAGE, [2] * 2, [2] * 2, [0] * 2, False, True, None),
        {},
    ),
    (
        _aten.convolution_backward.default,
        (
            *(_IMAGE[:, :, :6, :6], _IMAGE, torch.randn(2, 2, 3, 3), [2], [1] * 2, [0] * 2, [1] * 2, False, [0] * 2, 1),
            [True] * 3,
        ),
        {},
    ),
    (_aten.embedding_dense_backward.default, (_X[:2], _INDEX, 3, -1, False), {}),
    (
        _aten.max_pool2d_with_indices_backward.default,
        (_IMAGE[:, :, :4, :4], _IMAGE, [2] * 2, [2] * 2, [0] * 2, [1] * 2, False, _ROWS[0, 0].expand(1, 2, 4, 4)),
        {},
    ),
    (
        _aten.native_group_norm_backward.default,
        (_IMAGE, _IMAGE, torch.zeros(1, 1), torch.ones(1, 1), None, 1, 2, 64, 1, [True, False, False]),
        {},
    ),
    (
        _aten.native_layer_norm_backward.default,
        (_X, _X, [5], torch.zeros(4, 1), torch.ones(4, 1), None, None, [True, False, False]),
        {},
    ),
)


def calls() -> Iterator[Call]:
    """Yields one call of each operator, and calls with complex numbers of some."""
    for names, args in (
        (_UNARY, (_X,)),
        (_BINARY, (_X, _X + 1)),
        (_WITH_NUMBER, (_X, 2)),
        (_OF_NUMBER, (2, _X)),
        (_UNARY_OF_WHOLE, (_WHOLE.flatten(),)),
        (_BINARY_OF_WHOLE, (_WHOLE, _WHOLE)),
        (_WITH_WHOLE_NUMBER, (_WHOLE, 2)),
        (_OF_WHOLE_NUMBER, (2, _WHOLE)),
        (_WITH_DIM, (_X, 0)),
        (_WITH_DIMS, (_X, [0])),
        (_OF_SQUARE, (_SQUARE,)),
        (_OF_POSITIVE, (_POSITIVE,)),
        (_OF_COMPLEX, (_COMPLEX,)),
    ):
        for name in names.split():
            yield Call(_operator(name), args, {})
    for operator, given, options in _OTHERS:
        yield Call(operator, given, options)


def _operator(name: str) -> OpOverload:
    packet, _, overload = name.partition(".")
    operator: OpOverload = getattr(getattr(_aten, packet), overload or "default")
    return operator
