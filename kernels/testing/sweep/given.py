"""Calls of operators that are not called by any OpInfo."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

from kernels.testing import inputs
from kernels.testing.sweep.calls import Call

_Args = Iterator[tuple[Any, ...]]
_QUANTIZED = (torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32)
_IMAGES = (2, 3, 4, 3, 2)


def calls(operator: str, dtype: torch.dtype) -> Iterator[Call]:
    """Calls of one operator whose first tensor or whose result has the dtype."""
    if operator in _CALLS:
        for args in _CALLS[operator](dtype):
            yield Call(operator, args, {})
    elif operator in _FACTORIES:
        for size in ([], [3], [2, 3, 4, 5], [0, 2]):
            yield Call(operator, (size,), {_FACTORIES[operator]: None}, dtype)
    elif operator in _DRAWS:
        for args in _DRAWS[operator]:
            yield Call(operator, args, {}, dtype)


def _values(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Values from the whole range of a dtype of quantized values; small values for other dtypes."""
    least, largest = _bounds(dtype)
    return inputs.make_tensor(shape, dtype, low=max(least, -1000), high=min(largest, 1000))


def _bounds(dtype: torch.dtype) -> tuple[int, int]:
    """The range of quantized values. Calls with other dtypes need a range, too."""
    return (torch.iinfo(dtype).min, torch.iinfo(dtype).max) if dtype in _QUANTIZED else (-8, 7)


def _scales(*shape: int) -> torch.Tensor:
    return torch.linspace(0.013, 0.7, torch.Size(shape).numel()).reshape(shape)


def _zero_points(*shape: int) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel()).reshape(shape) * 37 % 101 - 50


def _copy(dtype: torch.dtype) -> _Args:
    for shape in ((), (3,), (2, 3, 4, 5)):
        yield (_values(shape, dtype),)


def _allclose(dtype: torch.dtype) -> _Args:
    x, y = _values((3, 4), dtype), _values((4,), dtype)
    for args in ((1e-5, 1e-8, False, False), (0.1, 20.0, True, False)):
        yield x, x, *args
        yield x, y, *args


def _convolution_backward(dtype: torch.dtype) -> _Args:
    # Sums of integers are exact.
    x, weight = (_values(shape, torch.int64).to(dtype) for shape in ((1, 4, 6, 5), (4, 2, 3, 3)))
    for stride, padding, result in ((1, 0, (4, 3)), (2, 1, (3, 3))):
        grad = _values((1, 4, *result), torch.int64).to(dtype)
        yield grad, x, weight, [4], [stride] * 2, [padding] * 2, [1] * 2, False, [0] * 2, 2, [True] * 3


def _dropout(dtype: torch.dtype) -> _Args:
    for p, train in ((0.5, False), (0.5, True), (0.0, True), (1.0, True), (0.5, None)):
        yield _values((3, 4), dtype), p, train


def _linear(dtype: torch.dtype) -> _Args:
    # PyTorch decomposes linear() before the call can be recorded. Sums of integers are exact.
    weight, bias = (_values(shape, torch.int64).to(dtype) for shape in ((5, 4), (5,)))
    for rows in ((3,), (), (2, 3), (0,)):
        x = _values((*rows, 4), torch.int64).to(dtype)
        yield x, weight, None
        yield x, weight, bias


def _like(dtype: torch.dtype) -> _Args:
    for shape in ((), (3, 4), (0, 2)):
        yield (_values(shape, dtype),)


def _uniform(dtype: torch.dtype) -> _Args:
    for limits in ((), (-1.0, 3.0), (2.0, 1.0)):
        yield _values((3, 4), dtype), *limits


def _normal(dtype: torch.dtype) -> _Args:
    for shape in ((), (3, 4)):
        for deviation in (2, -2):
            yield 0.5, torch.full(shape, deviation).to(dtype)


def _unique(*flags: bool) -> Callable[[torch.dtype], _Args]:
    def unique(dtype: torch.dtype) -> _Args:
        x = torch.tensor([[1, 0], [1, 1], [1, 0], [1, 0]]).to(dtype)
        for dim in (0, 1, -1, 2):
            yield x, dim, *flags
        yield x[:0], 0, *flags

    return unique


def _padding(dtype: torch.dtype) -> _Args:
    for padding in ([1, 0, 2, 1, 1, 1], [0] * 6, [-1, 1, 0, 0, 1, 0]):
        yield _values(_IMAGES, dtype), padding
        yield _values(_IMAGES[1:], dtype), padding


def _view_dtype(dtype: torch.dtype) -> _Args:
    for other in (torch.int8, torch.int16, torch.float32, torch.complex64, torch.complex128):
        yield _values((3, 16), dtype), other


def _bicubic(dtype: torch.dtype) -> _Args:
    for size in ([2, 3], [7, 5]):
        for align_corners in (False, True):
            yield _values((2, 3, 5, 4), dtype), size, align_corners, None, None


def _embedding_bag(dtype: torch.dtype) -> _Args:
    indices, offsets = torch.tensor([1, 2, 2, 5, 0]), torch.tensor([0, 2, 2])
    for mode in range(3):
        yield _values((6, 4), dtype), indices, offsets, False, mode, False, None, False, -1


def _average_gradient(dtype: torch.dtype) -> _Args:
    x = _values((2, 3, 6, 4), dtype)
    yield _values((2, 3, 3, 2), dtype), x, [2, 2], [2, 2], [0, 0], False, True, None
    yield _values((2, 3, 4, 3), dtype), x, [2, 2], [2, 2], [1, 1], False, False, None


def _adaptive_gradient(dtype: torch.dtype) -> _Args:
    for size in ((1, 1), (3, 2), (7, 5)):
        yield _values((2, 3, *size), dtype), _values((2, 3, 6, 4), dtype)


def _quantize(parameters: tuple[Any, ...]) -> Callable[[torch.dtype], _Args]:
    def quantize(dtype: torch.dtype) -> _Args:
        for quantized in _QUANTIZED:
            yield _values((3, 4), dtype), *parameters, *_bounds(quantized), quantized

    return quantize


def _dequantize(parameters: tuple[Any, ...], *, none: bool = True) -> Callable[[torch.dtype], _Args]:
    def dequantize(dtype: torch.dtype) -> _Args:
        for out_dtype in (*((None,) if none else ()), *inputs.FLOAT_DTYPES):
            yield _values((3, 4), dtype), *parameters, *_bounds(dtype), dtype, out_dtype

    return dequantize


def _choose_qparams(dtype: torch.dtype) -> _Args:
    for quantized in _QUANTIZED[:-1]:
        for shape in ((3, 4), (7,)):
            yield _values(shape, dtype), *_bounds(quantized), 1e-7, quantized


def _choose_qparams_per_token(dtype: torch.dtype) -> _Args:
    for shape in ((3, 4), (7,), (2, 3, 5)):
        yield _values(shape, dtype), torch.int8


def _embedding(bits: int, *dtypes: torch.dtype | None) -> Callable[[torch.dtype], _Args]:
    def embedding(dtype: torch.dtype) -> _Args:
        limit = 1 << (bits - 1)
        weight, indices = _values((6, 8), dtype), torch.tensor([[5, 0], [2, 2]])
        for scales in (_scales(6), _scales(6, 2)):
            for zero_points in (None, torch.ones_like(scales)):
                for out_dtype in dtypes or (None,):
                    args = (weight, scales, zero_points, -limit, limit - 1, indices)
                    yield (*args, out_dtype) if dtypes else args

    return embedding


def _mixed_mm(dtype: torch.dtype) -> _Args:
    yield _values((3, 4), dtype), _values((4, 5), torch.int8), _scales(4).to(dtype), None


def _mixed_linear(dtype: torch.dtype) -> _Args:
    for scales in (_scales(5), _scales(5, 2)):
        for out_dtype in (None, torch.float32, torch.float16):
            yield _values((3, 4), dtype), _values((5, 4), torch.int8), scales.to(dtype), None, out_dtype


def _add(dtype: torch.dtype) -> _Args:
    for shape in ((3, 4), (4,), ()):
        bounds = (0, 100)
        yield (
            *(_values((3, 4), dtype), 0.1, 3, *bounds),
            *(_values(shape, dtype), 0.07, 20, *bounds),
            *(0.15, 10, *bounds),
        )


_PER_TENSOR = (0.1, 3)
_IN_TENSORS = (torch.tensor([0.1]), torch.tensor([3]))
_PER_CHANNEL = (_scales(4), _zero_points(4), 1)
_PER_TOKEN = (_scales(3, 1), _zero_points(3, 1))
_FACTORIES = {"aten::empty.out": "memory_format", "dim_order_ops::_empty_dim_order.out": "dim_order"}
_DRAWS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "aten::randint.low_out": ((0, 2, [3]), (1, 100, [2, 3, 4, 5]), (-3, 3, []), (3, 3, [2]), (0, 1000, [0, 2])),
    "aten::randn.out": (([],), ([3],), ([2, 3, 4, 5],), ([0, 2],)),
    "aten::randperm.out": ((0,), (1,), (100,), (-1,)),
}
_CALLS: dict[str, Callable[[torch.dtype], _Args]] = {
    "aten::_adaptive_avg_pool2d_backward.out": _adaptive_gradient,
    "aten::_embedding_bag.out": _embedding_bag,
    "aten::_upsample_bicubic2d_aa.out": _bicubic,
    "aten::avg_pool2d_backward.grad_input": _average_gradient,
    "aten::view_copy.dtype_out": _view_dtype,
    "aten::allclose.Tensor": _allclose,
    "aten::allclose.out": _allclose,
    "aten::convolution_backward.out": _convolution_backward,
    "aten::detach_copy.out": _copy,
    "aten::lift_fresh_copy.out": _copy,
    "aten::linear.out": _linear,
    "aten::native_dropout.out": _dropout,
    "aten::normal.float_Tensor_out": _normal,
    "aten::rand_like.out": _like,
    "aten::reflection_pad3d.out": _padding,
    "aten::replication_pad3d.out": _padding,
    "aten::uniform.out": _uniform,
    "aten::unique_dim.out": _unique(True, False, True),
    "aten::unique_dim_consecutive.out": _unique(True, False),
    "quantized_decomposed::add.out": _add,
    "quantized_decomposed::choose_qparams.Tensor_out": _choose_qparams,
    "quantized_decomposed::choose_qparams_per_token_asymmetric.out": _choose_qparams_per_token,
    "quantized_decomposed::dequantize_per_channel.out": _dequantize(_PER_CHANNEL),
    "quantized_decomposed::dequantize_per_tensor.Tensor_out": _dequantize(_IN_TENSORS),
    "quantized_decomposed::dequantize_per_tensor.out": _dequantize(_PER_TENSOR),
    "quantized_decomposed::dequantize_per_token.out": _dequantize(_PER_TOKEN, none=False),
    "quantized_decomposed::embedding_2bit.dtype_out": _embedding(2, None, torch.float16),
    "quantized_decomposed::embedding_2bit.out": _embedding(2),
    "quantized_decomposed::embedding_4bit.dtype_out": _embedding(4, None, torch.float16),
    "quantized_decomposed::embedding_4bit.out": _embedding(4),
    "quantized_decomposed::embedding_byte.dtype_out": _embedding(8, None, torch.float16),
    "quantized_decomposed::embedding_byte.out": _embedding(8),
    "quantized_decomposed::mixed_linear.out": _mixed_linear,
    "quantized_decomposed::mixed_mm.out": _mixed_mm,
    "quantized_decomposed::quantize_per_channel.out": _quantize(_PER_CHANNEL),
    "quantized_decomposed::quantize_per_tensor.Tensor_out": _quantize(_IN_TENSORS),
    "quantized_decomposed::quantize_per_tensor.out": _quantize(_PER_TENSOR),
    "quantized_decomposed::quantize_per_token.out": _quantize(_PER_TOKEN),
}
