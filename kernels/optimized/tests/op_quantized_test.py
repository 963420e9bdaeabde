"""Tests of the operators for bytes.

The references compute sums in float64, which is exact. Scales and offsets have so few digits that the kernels'
computations in float32 are exact, too, so that results are equal.
"""

from __future__ import annotations

import functools
import itertools
import math
import zlib
from typing import Any

import torch
from absl.testing import absltest

from export.graph_passes import layouts
from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

_BYTES = (torch.int8, torch.uint8)
_COLUMNS, _DEPTH = _BLOCK = (layouts.BYTE_PANEL_COLUMNS, layouts.BYTE_PANEL_DEPTH)
_RANGES = {torch.int8: (-128, 127), torch.uint8: (0, 255), torch.float32: (0, 0)}


def _byte_values(x: torch.Tensor) -> torch.Tensor:
    if x.dtype not in _BYTES:
        raise ValueError("expected an int8 or uint8 tensor")
    return x.double() + (128 if x.dtype == torch.int8 else 0)


def _finished(
    values: torch.Tensor, table: torch.Tensor | None, quant_min: int, quant_max: int, dtype: torch.dtype
) -> torch.Tensor:
    if dtype == torch.float32:
        if table is not None:
            raise ValueError("expected no table for float results")
        return values.float()
    low, high = _RANGES[dtype]
    if dtype not in _BYTES or not low <= quant_min <= quant_max <= high:
        raise ValueError("expected a range of the int8 or uint8 dtype")
    result = torch.round(values.float()).clamp(quant_min, quant_max).to(dtype)
    return result if table is None else _lookup(result, table)


def _check(scale: torch.Tensor, offset: torch.Tensor, channels: int) -> None:
    if any(x.dtype != torch.float32 or x.shape != (channels,) for x in (scale, offset)):
        raise ValueError("expected one float32 scale and one float32 offset for each channel")


def _lookup(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    if table.shape != (256,) or table.dtype not in _BYTES or x.dtype not in _BYTES:
        raise ValueError("expected a table of 256 bytes and an input of bytes")
    return (
        torch.stack([table[int(i) % 256] for i in x.reshape(-1)]).reshape(x.shape) if x.numel() else x.to(table.dtype)
    )


def _linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    table: torch.Tensor | None,
    *rest: Any,
) -> torch.Tensor:
    channels, features = scale.shape[0], x.shape[-1]
    _check(scale, offset, channels)
    if weight.dtype != torch.int8 or weight.shape != (-(-channels // _COLUMNS), -(-features // _DEPTH), *_BLOCK):
        raise ValueError("expected a packed int8 weight")
    # Element depth * g + j of row columns * p + i is at [p, g, i, j].
    rows = torch.zeros(channels, features, dtype=torch.float64)
    for channel, feature in itertools.product(range(channels), range(features)):
        rows[channel, feature] = weight[channel // _COLUMNS, feature // _DEPTH, channel % _COLUMNS, feature % _DEPTH]
    sums = torch.nn.functional.linear(_byte_values(x), rows)
    return _finished(sums * scale.double() + offset.double(), table, *rest)


def _convolution(  # noqa: PLR0917  # The parameters of the operator.
    x: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    table: torch.Tensor | None,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
    zero_point: int,
    *rest: Any,
) -> torch.Tensor:
    channels = scale.shape[0]
    _check(scale, offset, channels)
    low, high = _RANGES[x.dtype]
    if x.dim() != 4 or len(padding) != 4 or min(padding) < 0 or not low <= zero_point <= high:
        raise ValueError("expected a 4-dim input, 4 paddings of at least 0 and a zero point in range")
    padded = torch.nn.functional.pad(
        _byte_values(x), (padding[1], padding[3], padding[0], padding[2]), value=zero_point - low
    )
    unpacked = _unpacked(weight, (channels, x.shape[1] // groups, *kernel_size), groups)
    sums = torch.nn.functional.conv2d(padded, unpacked.double(), None, stride, 0, dilation, groups)
    shape = (1, -1, 1, 1)
    return _finished(sums * scale.double().view(shape) + offset.double().view(shape), table, *rest)


@functools.cache
def _places(shape: tuple[int, ...], groups: int) -> tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor, ...]]:
    """For each element of a convolution's weight: its indices, and its indices in the packed weight."""
    channels, in_channels, _, width = shape
    of_group = channels // groups
    channel, i, y, x = torch.tensor(list(itertools.product(*map(range, shape)))).T
    if in_channels == of_group == 1:
        row, element = channel, (y // _DEPTH * width + x) * _DEPTH + y % _DEPTH
    else:
        row = channel // of_group * -(-of_group // _COLUMNS) * _COLUMNS + channel % of_group
        element = (y * width + x) * in_channels + i
    return (channel, i, y, x), (row // _COLUMNS, element // _DEPTH, row % _COLUMNS, element % _DEPTH)


def _packed_shape(shape: tuple[int, ...], groups: int) -> tuple[int, ...]:
    channels, in_channels, height, width = shape
    if in_channels == 1 and channels == groups:
        return -(-channels // _COLUMNS), -(-height // _DEPTH) * width, *_BLOCK
    return groups * -(-channels // groups // _COLUMNS), -(-in_channels * height * width // _DEPTH), *_BLOCK


def _unpacked(weight: torch.Tensor, shape: tuple[int, ...], groups: int) -> torch.Tensor:
    if weight.dtype != torch.int8 or weight.shape != _packed_shape(shape, groups):
        raise ValueError("expected a packed int8 weight")
    result = torch.zeros(shape, dtype=torch.int8)
    places, packed = _places(shape, groups)
    result[places] = weight[packed]
    return result


def _packed_convolution(weight: torch.Tensor, groups: int) -> torch.Tensor:
    packed = torch.zeros(_packed_shape(tuple(weight.shape), groups), dtype=torch.int8)
    places, at = _places(tuple(weight.shape), groups)
    packed[at] = weight[places]
    return packed


def _add(a: torch.Tensor, b: torch.Tensor, a_scale: float, b_scale: float, offset: float, *rest: Any) -> torch.Tensor:
    if a.dtype not in _BYTES or b.dtype not in _BYTES:
        raise ValueError("expected two tensors of int8 or uint8")
    return _finished(a.double() * a_scale + b.double() * b_scale + offset, None, *rest)


def _random(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Random bytes, the same in each run."""
    generator = torch.Generator().manual_seed(zlib.crc32(repr((shape, dtype)).encode()))
    low, high = _RANGES[dtype]
    return torch.randint(low, high + 1, shape, generator=generator).to(dtype)


def _packed(weight: torch.Tensor) -> torch.Tensor:
    rows, columns = weight.shape
    packed = torch.zeros(-(-rows // _COLUMNS), -(-columns // _DEPTH), *_BLOCK, dtype=torch.int8)
    for row, column in itertools.product(range(rows), range(columns)):
        packed[row // _COLUMNS, column // _DEPTH, row % _COLUMNS, column % _DEPTH] = weight[row, column]
    return packed


def _conversion(channels: int, products: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Scales and offsets for which all computations in float32 are exact and few results are clamped."""
    exponents = torch.arange(channels) % 3 - 8 - max(products, 1).bit_length() // 2
    return torch.ldexp(torch.ones(channels), exponents), (torch.arange(channels) % 7 - 3) * 0.25


_CHANNELS_LAST = (0, 2, 3, 1)
_TABLE = (torch.arange(256) * 167 + 13) % 256


def _line_table(scale: float, dtype: torch.dtype) -> torch.Tensor:
    """The table of a change of scale with a clamp, which some kernels compute without the table."""
    low, high = _RANGES[dtype]
    x = torch.arange(256, dtype=torch.uint8).view(dtype).double()
    return torch.round((x - low - 30) * scale + low).clamp(low, high - 20).to(dtype)


class OpQuantizedTest(op_tester.OpTest):
    def _op(self, name: str) -> op_tester.OpTester:
        references = {
            "rules_executorch::quantized_add.out": _add,
            "rules_executorch::quantized_convolution.out": _convolution,
            "rules_executorch::quantized_linear.out": _linear,
            "rules_executorch::quantized_lookup.out": _lookup,
        }
        return self.op(name, schema=SCHEMAS[name], reference=references[name])

    def test_linear(self) -> None:
        linear = self._op("rules_executorch::quantized_linear.out")
        shapes = [(1, 4, 16), (2, 5, 17), (7, 33, 48), (15, 64, 49), (3, 1, 1), (70, 12, 100), (1, 0, 5), (0, 4, 4)]
        for (rows, k, channels), dtype, out_dtype in itertools.product(shapes, _BYTES, _RANGES):
            x, weight = _random((rows, k), dtype), _packed(_random((channels, k), torch.int8))
            linear.check(x, weight, *_conversion(channels, k), None, *_RANGES[out_dtype], out_dtype)
        x, weight = _random((2, 3, 20), torch.int8), _packed(_random((6, 20), torch.int8))
        linear.check(x, weight, *_conversion(6, 20), None, 3, 90, torch.int8)
        linear.check(x[0, 0], weight, *_conversion(6, 20), _TABLE.to(torch.uint8), 3, 90, torch.uint8)
        x, weight = _random((9, 20), torch.int8), _packed(_random((35, 20), torch.int8))
        for scale, dtype in itertools.product((0.3, 0.98, 1.7, 40.1), _BYTES):
            table = _line_table(scale, dtype)
            low, high = _RANGES[dtype]
            for limits in ((low, high), (low + 40, high - 90)):
                linear.check(x, weight, *_conversion(35, 20), table, *limits, dtype)
            # Sums far out of the range.
            for value in (3e7, -3e7, math.inf, -math.inf):
                linear.check(x, weight, torch.full((35,), value), torch.zeros(35), table, low, high, dtype)

    def test_each_number_of_rows(self) -> None:
        # Tiles repeat rows before the last ones, but no rows before the first one.
        linear = self._op("rules_executorch::quantized_linear.out")
        for rows, (k, channels) in itertools.product(range(1, 26), ((20, 5), (9, 50))):
            x, weight = _random((rows, k), torch.int8), _packed(_random((channels, k), torch.int8))
            linear.check(x, weight, *_conversion(channels, k), None, *_RANGES[torch.int8], torch.int8)

    def test_largest_sums(self) -> None:
        linear = self._op("rules_executorch::quantized_linear.out")
        for dtype, value in itertools.product(_BYTES, (-128, 127)):
            x = torch.full((3, 4096), _RANGES[dtype][1], dtype=dtype)
            weight = torch.full((20, 4096), value, dtype=torch.int8)
            linear.check(x, _packed(weight), torch.full((20,), 2.0**-20), torch.zeros(20), None, 0, 0, torch.float32)

    def test_convolution(self) -> None:
        convolution = self._op("rules_executorch::quantized_convolution.out")
        # Input, weight, stride, padding, dilation, groups.
        cases: list[Any] = [
            ((1, 8, 5, 7), (16, 8, 1, 1), [1, 1], [0, 0, 0, 0], [1, 1], 1),
            ((2, 9, 3, 3), (5, 9, 1, 1), [1, 1], [0, 0, 0, 0], [1, 1], 1),
            ((1, 6, 9, 9), (7, 6, 1, 1), [2, 2], [0, 0, 0, 0], [1, 1], 1),
            ((1, 33, 8, 9), (130, 33, 1, 1), [1, 1], [0, 0, 0, 0], [1, 1], 1),
            ((2, 8, 5, 3), (12, 2, 1, 1), [1, 1], [0, 0, 0, 0], [1, 1], 4),
            ((2, 3, 11, 23), (20, 3, 3, 3), [2, 2], [0, 0, 1, 1], [1, 1], 1),
            ((1, 5, 8, 40), (9, 5, 3, 2), [1, 3], [1, 0, 2, 4], [2, 1], 1),
            ((1, 4, 60, 20), (50, 4, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 1),
            ((2, 8, 6, 6), (12, 2, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 4),
            ((2, 6, 7, 7), (6, 1, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 6),
            ((1, 64, 5, 11), (64, 1, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 64),
            ((1, 8, 13, 12), (130, 8, 1, 1), [1, 1], [0, 0, 0, 0], [1, 1], 1),
            ((1, 32, 5, 23), (32, 1, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 32),
            ((2, 16, 4, 12), (16, 1, 2, 3), [1, 1], [0, 0, 1, 2], [1, 1], 16),
            ((1, 100, 5, 14), (100, 1, 3, 3), [2, 2], [0, 0, 1, 1], [1, 1], 100),
            ((1, 144, 5, 25), (144, 1, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 144),
            ((1, 96, 6, 35), (96, 1, 3, 3), [2, 2], [0, 0, 1, 1], [1, 1], 96),
            ((2, 20, 3, 17), (20, 1, 3, 3), [1, 1], [1, 2, 1, 0], [1, 1], 20),
            ((1, 48, 4, 9), (48, 1, 1, 3), [1, 1], [0, 1, 0, 1], [1, 1], 48),
            ((1, 35, 9, 4), (35, 1, 5, 7), [2, 1], [2, 5, 1, 6], [1, 1], 35),
            ((1, 80, 7, 7), (80, 1, 7, 7), [1, 1], [0, 0, 0, 0], [1, 1], 80),
            ((1, 5, 9, 70), (10, 1, 3, 5), [2, 2], [1, 2, 0, 1], [1, 2], 5),
            ((1, 3, 9, 9), (3, 1, 3, 3), [3, 4], [2, 2, 2, 2], [3, 2], 3),
            ((2, 1, 20, 20), (3, 1, 17, 17), [1, 1], [0, 0, 0, 0], [1, 1], 1),
            ((1, 20, 1, 30), (33, 20, 1, 3), [1, 2], [0, 1, 0, 1], [1, 1], 1),
            ((0, 2, 4, 4), (2, 2, 3, 3), [1, 1], [0, 0, 0, 0], [1, 1], 1),
        ]
        for (shape, of_weight, *how), dtype in itertools.product(cases, _BYTES):
            weight = _random(of_weight, torch.int8)
            conversion = _conversion(of_weight[0], weight[0].numel())
            packed = _packed_convolution(weight, how[-1])
            x = op_tester.with_dim_order(_random(shape, dtype), _CHANNELS_LAST)
            for out_dtype, limits in _RANGES.items():
                self._check_convolution(
                    convolution, x, packed, *conversion, None, of_weight[2:], *how, 3, *limits, out_dtype
                )
            tables = (_TABLE.to(torch.uint8).view(torch.int8), _line_table(1.3, torch.int8))
            for zero_point, table in zip(_RANGES[dtype], tables, strict=False):
                self._check_convolution(
                    convolution, x, packed, *conversion, table, of_weight[2:], *how, zero_point, -20, 100, torch.int8
                )

    @staticmethod
    def _check_convolution(convolution: op_tester.OpTester, *args: Any) -> None:
        convolution.check(*args, out_dim_order=_CHANNELS_LAST, static=True)

    def test_add(self) -> None:
        add = self._op("rules_executorch::quantized_add.out")
        for dtypes in itertools.product(_BYTES, _BYTES, _BYTES):
            for shapes in (((70, 3), (70, 3)), ((2, 3, 5), (3, 1)), ((), (4,)), ((0, 2), (2,))):
                a, b = (_random(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=False))
                add.check(a, b, 0.5, 0.375, -2.5, *_RANGES[dtypes[2]], dtypes[2])
                add.check(a, b, 0.5, 0.375, -2.5, 10, 20, dtypes[2])
            a, b = (op_tester.with_dim_order(_random((2, 19, 3, 4), dtype), _CHANNELS_LAST) for dtype in dtypes[:2])
            how = (0.5, 0.375, -2.5, *_RANGES[dtypes[2]], dtypes[2])
            add.check(a, b, *how, out_dim_order=_CHANNELS_LAST, static=True)
            add.check(a, b.contiguous(), *how, out_dim_order=_CHANNELS_LAST, static=True)

    def test_lookup(self) -> None:
        lookup = self._op("rules_executorch::quantized_lookup.out")
        for dtype, out_dtype in itertools.product(_BYTES, _BYTES):
            table = _TABLE.to(torch.uint8).view(out_dtype)
            for shape in ((), (3,), (64,), (5, 77), (0,)):
                lookup.check(_random(shape, dtype), table)
            x = _random((2, 3, 4, 5), dtype)
            order = (0, 2, 3, 1)
            lookup.check(op_tester.with_dim_order(x, order), table, out_dim_order=order, static=True)

    def test_dim_orders_of_linear_layers(self) -> None:
        linear = self._op("rules_executorch::quantized_linear.out")
        for shape, channels in (((2, 3, 4, 20), 35), ((3, 1, 8, 20), 1), ((1, 8, 1, 20), 5)):
            x, weight = _random(shape, torch.int8), _packed(_random((channels, 20), torch.int8))
            table = _line_table(1.3, torch.int8)
            arguments = (x, weight, *_conversion(channels, 20), table, *_RANGES[torch.int8], torch.int8)
            declared_dim_orders.check(linear, *arguments)

    def test_dim_orders_of_convolutions(self) -> None:
        convolution = self._op("rules_executorch::quantized_convolution.out")
        for shape, of_weight, groups in (
            ((2, 8, 5, 6), (20, 8, 3, 3), 1),
            ((2, 1, 5, 6), (20, 1, 3, 3), 1),
            ((1, 8, 1, 1), (3, 8, 1, 1), 1),
            ((2, 8, 6, 1), (1, 8, 3, 1), 1),
            ((1, 32, 1, 7), (32, 1, 1, 3), 32),
        ):
            weight = _random(of_weight, torch.int8)
            arguments = (_random(shape, torch.uint8), _packed_convolution(weight, groups))
            conversion = (*_conversion(of_weight[0], weight[0].numel()), _line_table(1.3, torch.int8))
            how = (of_weight[2:], [1, 1], [1, 1, 0, 1], [1, 1], groups, 3, *_RANGES[torch.int8], torch.int8)
            declared_dim_orders.check(convolution, *arguments, *conversion, *how)

    def test_dim_orders_of_elements(self) -> None:
        add = self._op("rules_executorch::quantized_add.out")
        lookup = self._op("rules_executorch::quantized_lookup.out")
        table = _line_table(1.3, torch.int8)
        for shape in ((2, 3, 4, 5), (3, 1, 4, 5), (3, 4, 1, 1), (1, 7, 1, 5), (5, 77)):
            a, b = _random(shape, torch.int8), _random(shape, torch.uint8)
            declared_dim_orders.check(add, a, b, 0.5, 0.375, -2.5, *_RANGES[torch.int8], torch.int8)
            declared_dim_orders.check(lookup, a, table)

    def test_wrong_dtypes(self) -> None:
        linear = self._op("rules_executorch::quantized_linear.out")
        lookup = self._op("rules_executorch::quantized_lookup.out")
        add = self._op("rules_executorch::quantized_add.out")
        convolution = self._op("rules_executorch::quantized_convolution.out")
        how = ([1, 1], [1, 1], [0, 0, 0, 0], [1, 1], 1, 0)
        for dtype in op_tester.ALL_DTYPES:
            if dtype in _BYTES:
                continue
            x, w = torch.ones((2, 4), dtype=dtype), torch.ones((1, 1, *_BLOCK), dtype=dtype)
            byte, char = torch.ones((2, 4), dtype=torch.uint8), torch.ones((1, 1, *_BLOCK), dtype=torch.int8)
            one = torch.ones(3)
            out = torch.ones((2, 3), dtype=torch.int8)
            linear.check_rejected(x, char, one, one, None, 0, 1, torch.int8, outs=[out])
            linear.check_rejected(byte, w, one, one, None, 0, 1, torch.int8, outs=[out])
            lookup.check_rejected(x, torch.ones(256, dtype=torch.int8), outs=[x.to(torch.int8)])
            lookup.check_rejected(byte, torch.ones(256, dtype=dtype), outs=[x])
            add.check_rejected(x, byte, 1.0, 1.0, 0.0, 0, 1, torch.uint8, outs=[byte])
            add.check_rejected(byte, byte, 1.0, 1.0, 0.0, 0, 1, dtype, outs=[x])
            image, result = torch.ones((1, 4, 1, 1), dtype=dtype), torch.ones((1, 3, 1, 1), dtype=torch.int8)
            to: dict[str, Any] = {"outs": [result], "out_dim_order": _CHANNELS_LAST}
            convolution.check_rejected(image, char, one, one, None, *how, 0, 1, torch.int8, **to)
            convolution.check_rejected(image.to(torch.uint8), w, one, one, None, *how, 0, 1, torch.int8, **to)
            if dtype != torch.float32:
                linear.check_rejected(byte, char, one, one, None, 0, 1, dtype, outs=[out.to(dtype)])
                linear.check_rejected(byte, char, one.to(dtype), one, None, 0, 1, torch.int8, outs=[out])

    def test_wrong_parameters(self) -> None:
        linear = self._op("rules_executorch::quantized_linear.out")
        x, weight, one = (
            torch.ones((2, 4), dtype=torch.uint8),
            torch.ones((1, 1, *_BLOCK), dtype=torch.int8),
            torch.ones(3),
        )
        out = torch.ones((2, 3), dtype=torch.int8)
        right = (x, weight, one, one, None, 0, 1, torch.int8)
        linear.check(*right)
        for position, wrong in (
            (0, torch.ones((2, 5), dtype=torch.uint8)),
            (1, torch.ones((3, 4), dtype=torch.int8)),
            (1, torch.ones((2, 1, *_BLOCK), dtype=torch.int8)),
            (1, torch.ones((1, 1, *reversed(_BLOCK)), dtype=torch.int8)),
            (3, torch.ones(4)),
            (4, torch.ones(255, dtype=torch.int8)),
            (4, torch.ones(256, dtype=torch.uint8)),
            (5, -129),
            (5, 2),
            (6, 128),
            (7, torch.uint8),
        ):
            linear.check_rejected(*right[:position], wrong, *right[position + 1 :], outs=[out])
        linear.check_rejected(*right[:4], torch.ones(256), 0, 0, torch.float32, outs=[out.float()])
        convolution = self._op("rules_executorch::quantized_convolution.out")
        image = op_tester.with_dim_order(torch.ones((1, 4, 5, 3), dtype=torch.int8), _CHANNELS_LAST)
        kernel, six = torch.ones((2, 5, *_BLOCK), dtype=torch.int8), torch.ones(6)
        result = op_tester.with_dim_order(torch.ones((1, 6, 3, 1), dtype=torch.int8), _CHANNELS_LAST)
        size = ([3, 3], [1, 1], [0, 0, 0, 0], [1, 1], 2, 0)
        call: list[Any] = [image, kernel, six, six, None, *size, 0, 1, torch.int8]
        self._check_convolution(convolution, *call)
        cases: list[tuple[int, Any]] = [
            (0, image[0]),
            (1, torch.ones((6, 2, 3, 3), dtype=torch.int8)),
            (1, torch.ones((1, 5, *_BLOCK), dtype=torch.int8)),
            (1, torch.ones((2, 4, *_BLOCK), dtype=torch.int8)),
            (2, torch.ones(5)),
            (5, [3]),
            (5, [6, 3]),
            (5, [0, 3]),
            (6, [1]),
            (6, [0, 1]),
            (7, [0, 0]),
            (7, [0, -1, 0, 1]),
            (8, [1, 2]),
            (8, [0, 1]),
            (9, 0),
            (9, 3),
            (10, -129),
            (10, 128),
            (11, 2),
            (13, torch.uint8),
        ]
        for at, value in cases:
            arguments = (*call[:at], value, *call[at + 1 :])
            convolution.check_rejected(*arguments, outs=[result], out_dim_order=_CHANNELS_LAST)
        convolution.check_rejected(
            *call, outs=[torch.ones((1, 6, 3, 2), dtype=torch.int8)], out_dim_order=_CHANNELS_LAST, static=True
        )


if __name__ == "__main__":
    absltest.main()
