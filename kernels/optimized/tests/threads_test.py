"""Tests that kernels divide their work among threads and that results do not depend on the number of threads.

The shapes are random. The tests only check the division, so that weights are random tensors of the packed shape.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from absl import flags
from absl.testing import absltest

from export.graph_passes import layouts
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

_OPERATORS = flags.DEFINE_list("operators", None, "Only these.")

_SCHEMAS: Mapping[str, str] = {
    **SCHEMAS,
    "aten::linear.out": "aten::linear.out(Tensor input, Tensor weight, Tensor? bias, *, Tensor(a!) out) -> Tensor(a!)",
}
_SEEDS = range(2)
_FIRST = (0, 1, 2, 3)
_LAST = (0, 2, 3, 1)
_LAST_OF_VOLUMES = (0, 2, 3, 4, 1)
# The numbers of products of matrix products and convolutions, and of elements of elementwise operators. A thread
# processes at least half a million products or 32768 elements. If a weight is used for one row only, a thread reads at
# least 131072 bytes of weights, which are 262144 weights of 4 bits.
_PRODUCTS = 5 << 19
_ELEMENTS = 5 << 15
_WEIGHTS_OF_A_ROW = 5 << 17
_HALF = (torch.float16, torch.bfloat16)
# The columns of a panel of float weights, and the shape of a block of byte weights.
_COLUMNS = layouts.FLOAT_PANEL_COLUMNS
_BLOCK = (layouts.BYTE_PANEL_COLUMNS, layouts.BYTE_PANEL_DEPTH)


@dataclasses.dataclass(frozen=True)
class _Call:
    """Arguments of an operator.

    Attributes:
      args: positional arguments.
      out_shape: the shape of the result; None for the shape of PyTorch's result.
      options: the options of the call, and keyword arguments.
      out_dtype: the dtype of the result.
      more_shapes: the shapes of the results behind the first one.
    """

    args: Sequence[Any]
    out_shape: Sequence[int] | None = None
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    out_dtype: torch.dtype = torch.float32
    more_shapes: Sequence[Sequence[int]] = ()

    @property
    def outs(self) -> list[torch.Tensor] | None:
        if self.out_shape is None:
            return None
        return [torch.empty(tuple(shape), dtype=self.out_dtype) for shape in (self.out_shape, *self.more_shapes)]


class _Draw(random.Random):
    """Draws shapes and tensors."""

    def sizes(self, least: int, *most: int) -> list[int]:
        """Random sizes, each at most the corresponding one of `most`, with a product of at least `least`."""
        sizes = [min(size, round(math.exp(self.uniform(0, math.log(size))))) for size in most]
        while math.prod(sizes) < least:
            i = self.choice([i for i, size in enumerate(sizes) if size < most[i]])
            sizes[i] = min(most[i], 2 * sizes[i] + self.randint(0, 1))
        return sizes

    def flip(self) -> bool:
        return self.random() < 0.5

    def tensor(
        self, shape: Sequence[int], dtype: torch.dtype = torch.float32, dim_order: Sequence[int] | None = None
    ) -> torch.Tensor:
        generator = torch.Generator().manual_seed(self.getrandbits(32))
        if dtype.is_floating_point or dtype.is_complex:
            tensor = torch.randn(tuple(shape), generator=generator).to(dtype)
        else:
            bounds = torch.iinfo(dtype)
            tensor = torch.randint(bounds.min, bounds.max + 1, tuple(shape), generator=generator).to(dtype)
        return tensor if dim_order is None else op_tester.with_dim_order(tensor, dim_order)

    def positions(self, shape: Sequence[int], size: int) -> torch.Tensor:
        """Positions in a dimension of `size` elements."""
        return torch.tensor([self.randrange(size) for _ in range(math.prod(shape))]).reshape(tuple(shape))

    def panels(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Packed weights of a convolution: groups, a group's output channels, height, width, a group's channels."""
        groups, out_channels, height, width, channels = shape
        # In bfloat16, channels are in pairs.
        channels += channels % 2 if dtype == torch.bfloat16 and groups == 1 else 0
        inputs = height * width * channels
        rows = (inputs // 2, _COLUMNS, 2) if dtype == torch.bfloat16 and channels % 2 == 0 else (inputs, _COLUMNS)
        return self.tensor((groups, _divide_up(out_channels, _COLUMNS), *rows), dtype)

    def byte_dtype(self) -> torch.dtype:
        return self.choice((torch.int8, torch.uint8))

    def activation(self) -> tuple[Any, ...]:
        return self.choice((("none",), ("gelu",), ("clamp", -0.5, 3.0), ("silu",)))


def _divide_up(a: int, b: int) -> int:
    return -(-a // b)


def _packed_bytes(draw: _Draw, panels: int, k: int) -> torch.Tensor:
    """Panels of bytes for channels with `k` weights each. The padding of the last weights is zero."""
    weight = draw.tensor((panels, _divide_up(k, _BLOCK[1]), *_BLOCK), torch.int8)
    if k % _BLOCK[1] > 0:
        weight[:, -1, :, k % _BLOCK[1] :] = 0
    return weight


def _range(dtype: torch.dtype) -> tuple[int, int, torch.dtype]:
    return torch.iinfo(dtype).min, torch.iinfo(dtype).max, dtype


@dataclasses.dataclass(frozen=True)
class _Images:
    """The parameters of a convolution of images.

    Attributes:
      batch, channels, out_channels, groups: of the input and the result.
      kernel: the height and width of the kernel.
      steps: strides, padding before and after, dilation.
      in_size: height and width of the input.
    """

    batch: int
    channels: int
    out_channels: int
    groups: int
    kernel: tuple[int, int]
    steps: tuple[list[int], list[int], list[int], list[int]]
    in_size: Sequence[int]

    @property
    def in_shape(self) -> list[int]:
        return [self.batch, self.channels, *self.in_size]

    @property
    def out_shape(self) -> list[int]:
        sizes = [
            (size + before + behind - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, stride, before, behind, dilation in zip(
                self.in_size, self.kernel, *self.steps, strict=True
            )
        ]
        return [self.batch, self.out_channels, *sizes]

    @property
    def weight_shape(self) -> list[int]:
        return [self.out_channels, self.channels // self.groups, *self.kernel]


_MIXED, _FEW, _GROUPED, _DEPTHWISE = "mixed", "few channels", "grouped", "depthwise"


def _images(draw: _Draw, kind: str) -> _Images:
    kernel = (draw.randint(1, 4), draw.randint(1, 4))
    groups = draw.randint(2, 5) if kind == _GROUPED else 1
    products = _divide_up(_PRODUCTS, kernel[0] * kernel[1] * groups)
    if kind == _DEPTHWISE:
        batch, height, width, groups = draw.sizes(products, 3, 60, 60, 900)
        groups = max(groups, 2)
        channels = out_channels = groups
    else:
        most = 4 if kind == _FEW else 90
        batch, height, width, channels, out_channels = draw.sizes(products, 3, 60, 60, most, 150)
        channels, out_channels = channels * groups, out_channels * groups
    strides, dilations = [draw.randint(1, 2) for _ in range(2)], [draw.randint(1, 2) for _ in range(2)]
    begins, ends = [draw.randint(0, 2) for _ in range(2)], [draw.randint(0, 2) for _ in range(2)]
    in_size = [
        (size - 1) * stride + dilation * (extent - 1) + 1
        for size, stride, dilation, extent in zip((height, width), strides, dilations, kernel, strict=True)
    ]
    return _Images(batch, channels, out_channels, groups, kernel, (strides, begins, ends, dilations), in_size)


def _transposed_convolution(dtype: torch.dtype) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        strides = [draw.randint(1, 3) for _ in range(2)]
        kernel = [draw.randint(stride, 5) for stride in strides]
        begins, ends = ([draw.randint(0, 1) for _ in range(2)] for _ in range(2))
        batch, height, width, channels, out_channels = draw.sizes(_PRODUCTS, 3, 40, 40, 90, 150)
        in_size = [max(size, 3) for size in (height, width)]
        out_size = [
            (size - 1) * stride + extent - begin - end
            for size, stride, extent, begin, end in zip(in_size, strides, kernel, begins, ends, strict=True)
        ]
        out_shape = [batch, out_channels, *out_size]
        steps = (strides, begins, ends, [1, 1])
        return _Call(
            (
                draw.tensor([batch, channels, *in_size], dtype, _LAST),
                draw.panels((1, out_channels, *kernel, channels), dtype),
                draw.tensor([out_channels], dtype) if draw.flip() else None,
                draw.tensor(out_shape, dtype, _LAST) if draw.flip() else None,
                kernel,
                out_channels,
                *steps,
                1,
                *(*draw.activation(), 0.0, 0.0)[:3],
                True,
            ),
            out_shape,
            {"out_dim_order": _LAST, "static": True},
            dtype,
        )

    return call


def _packed_convolution(kind: str, dim_order: Sequence[int], dtype: torch.dtype) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        images = _images(draw, kind)
        height, width = images.kernel
        of_group = images.out_channels // images.groups
        if images.groups == images.channels == images.out_channels > 1:
            weight = draw.tensor((height * width, images.groups), dtype)
        else:
            channels = images.channels // images.groups
            weight = draw.panels((images.groups, of_group, height, width, channels), dtype)
        return _Call(
            (
                draw.tensor(images.in_shape, dtype, dim_order),
                weight,
                draw.tensor([images.out_channels], dtype) if draw.flip() else None,
                draw.tensor(images.out_shape, dtype, _LAST) if draw.flip() else None,
                images.kernel,
                images.out_channels,
                *images.steps,
                images.groups,
                *draw.activation(),
            ),
            images.out_shape,
            {"out_dim_order": _LAST, "static": True},
            dtype,
        )

    return call


def _packed_volumes(dtype: torch.dtype, kernel: Sequence[int], dim_order: Sequence[int]) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        products = _divide_up(_PRODUCTS, math.prod(kernel))
        batch, *sizes, channels, out_channels = draw.sizes(products, 2, 8, 30, 30, 90, 150)
        begins, ends = ([draw.randint(0, extent // 2) for extent in kernel] for _ in range(2))
        pads = zip(sizes, kernel, begins, ends, strict=True)
        in_size = [max(size + extent - 1 - begin - end, 1) for size, extent, begin, end in pads]
        pads = zip(in_size, kernel, begins, ends, strict=True)
        out_shape = [batch, out_channels, *(size - extent + 1 + begin + end for size, extent, begin, end in pads)]
        rows, columns = kernel[0] * kernel[1], kernel[2]
        return _Call(
            (
                draw.tensor((batch, channels, *in_size), dtype, dim_order),
                draw.panels((1, out_channels, rows, columns, channels), dtype),
                draw.tensor([out_channels], dtype) if draw.flip() else None,
                draw.tensor(out_shape, dtype, _LAST_OF_VOLUMES) if draw.flip() else None,
                kernel,
                out_channels,
                *([1, 1, 1], begins, ends, [1, 1, 1]),
                1,
                *draw.activation(),
            ),
            out_shape,
            {"out_dim_order": _LAST_OF_VOLUMES, "static": True},
            dtype,
        )

    return call


def _winograd_convolution(tile: int) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        batch, height, width, channels, out_channels = draw.sizes(_PRODUCTS, 3, 60, 60, 90, 150)
        begins, ends = ([draw.randint(0, 2) for _ in range(2)] for _ in range(2))
        in_size = [max(size + 2 - a - b, 1) for size, a, b in zip((height, width), begins, ends, strict=True)]
        out_shape = [batch, out_channels, *(a + x + b - 2 for a, x, b in zip(begins, in_size, ends, strict=True))]
        return _Call(
            (
                draw.tensor((batch, channels, *in_size), dim_order=_LAST),
                draw.tensor((1, _divide_up(out_channels, _COLUMNS), channels * 9, _COLUMNS)),
                draw.tensor([out_channels]) if draw.flip() else None,
                draw.tensor(out_shape, dim_order=_LAST) if draw.flip() else None,
                out_channels,
                tile,
                begins,
                ends,
                *draw.activation(),
            ),
            out_shape,
            {"out_dim_order": _LAST, "static": True},
        )

    return call


def _fused_convolution(kind: str, dim_order: Sequence[int]) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        images = _images(draw, kind)
        dtype = draw.choice((torch.float32, torch.float32, *_HALF))
        return _Call(
            (
                draw.tensor(images.in_shape, dtype, dim_order),
                draw.tensor(images.weight_shape, dtype),
                draw.tensor([images.out_channels], dtype) if draw.flip() else None,
                *images.steps,
                images.groups,
                *draw.activation(),
            ),
            images.out_shape,
            {"out_dim_order": dim_order, "static": True},
            dtype,
        )

    return call


def _convolution(kind: str, dim_order: Sequence[int]) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        images = _images(draw, kind)
        strides, paddings, _, dilations = images.steps
        images = dataclasses.replace(images, steps=(strides, paddings, paddings, dilations))
        dtype = draw.choice((torch.float32, torch.float64, *_HALF))
        return _Call(
            (
                draw.tensor(images.in_shape, dtype, dim_order),
                draw.tensor(images.weight_shape, dtype),
                draw.tensor([images.out_channels], dtype) if draw.flip() else None,
                strides,
                paddings,
                dilations,
                False,
                [0, 0],
                images.groups,
            ),
            images.out_shape,
            {"out_dim_order": dim_order, "static": True},
            dtype,
        )

    return call


def _convolution_backward(draw: _Draw) -> _Call:
    images = _images(draw, draw.choice((_MIXED, _GROUPED)))
    strides, paddings, _, dilations = images.steps
    images = dataclasses.replace(images, steps=(strides, paddings, paddings, dilations))
    return _Call(
        (
            draw.tensor(images.out_shape),
            draw.tensor(images.in_shape),
            draw.tensor(images.weight_shape),
            [images.out_channels],
            strides,
            paddings,
            dilations,
            False,
            [0, 0],
            images.groups,
            [True, True, True],
        )
    )


def _quantized_convolution(kind: str) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        images = _images(draw, kind)
        strides, begins, ends, dilations = images.steps
        height, width = images.kernel
        of_group = images.out_channels // images.groups
        if kind == _DEPTHWISE:
            panels, blocks = _divide_up(images.groups, _BLOCK[0]), _divide_up(height, _BLOCK[1]) * width
            weight = draw.tensor((panels, blocks, *_BLOCK), torch.int8)
        else:
            k = images.channels // images.groups * height * width
            weight = _packed_bytes(draw, images.groups * _divide_up(of_group, _BLOCK[0]), k)
        dtype = draw.byte_dtype()
        return _Call(
            (
                draw.tensor(images.in_shape, draw.byte_dtype(), _LAST),
                weight,
                draw.tensor([images.out_channels]).abs() / 1000,
                draw.tensor([images.out_channels]),
                draw.tensor([256], dtype) if draw.flip() else None,
                images.kernel,
                strides,
                [*begins, *ends],
                dilations,
                images.groups,
                3,
                *_range(dtype),
            ),
            images.out_shape,
            {"out_dim_order": _LAST, "static": True},
            dtype,
        )

    return call


def _pointwise_quantized_convolution(draw: _Draw) -> _Call:
    batch, height, width, channels, out_channels = draw.sizes(_PRODUCTS, 3, 60, 60, 90, 150)
    dtype = draw.byte_dtype()
    return _Call(
        (
            draw.tensor((batch, channels, height, width), draw.byte_dtype(), _LAST),
            _packed_bytes(draw, _divide_up(out_channels, _BLOCK[0]), channels),
            draw.tensor([out_channels]).abs() / 1000,
            draw.tensor([out_channels]),
            None,
            [1, 1],
            [1, 1],
            [0, 0, 0, 0],
            [1, 1],
            1,
            3,
            *_range(dtype),
        ),
        (batch, out_channels, height, width),
        {"out_dim_order": _LAST, "static": True},
        dtype,
    )


def _quantized_linear(least: int, most_rows: int) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        rows, k, columns = draw.sizes(least, most_rows, 600, 1200)
        columns = max(columns, 200)
        dtype = draw.byte_dtype()
        return _Call(
            (
                draw.tensor((rows, k), draw.byte_dtype()),
                _packed_bytes(draw, _divide_up(columns, _BLOCK[0]), k),
                draw.tensor([columns]).abs() / 1000,
                draw.tensor([columns]),
                draw.tensor([256], dtype) if draw.flip() else None,
                *_range(dtype),
            ),
            (rows, columns),
            {},
            dtype,
        )

    return call


def _quantized_add(draw: _Draw) -> _Call:
    shape = draw.sizes(_ELEMENTS, 9, 100, 90, 70)
    order = draw.choice((_FIRST, _LAST))
    dtype = draw.byte_dtype()
    a, b = (draw.tensor(shape, draw.byte_dtype(), order) for _ in range(2))
    return _Call((a, b, 0.5, 0.375, -2.5, *_range(dtype)), shape, {"out_dim_order": order, "static": True}, dtype)


def _quantized_lookup(draw: _Draw) -> _Call:
    shape, dtype = draw.sizes(_ELEMENTS, 90, 5000), draw.byte_dtype()
    return _Call((draw.tensor(shape, draw.byte_dtype()), draw.tensor([256], dtype)), shape, {}, dtype)


def _dynamic_linear(least: int, most_rows: int) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        bits, groups = draw.choice((4, 8)), draw.choice((1, 1, 2, 3))
        dtype = draw.choice((torch.float32, *_HALF))
        rows, columns, k = draw.sizes(least, most_rows, 900, 800)
        columns = max(columns, 200)
        multiple = groups * layouts.BYTE_PANEL_ROW_MULTIPLE
        k = max(_divide_up(k, multiple), 2) * multiple
        panels = _divide_up(columns, _BLOCK[0])
        weight = draw.tensor((panels, k // _BLOCK[1], *_BLOCK), torch.int8)
        if bits == 4:
            weight = draw.tensor((panels, k // layouts.BYTE_PANEL_ROW_MULTIPLE, *_BLOCK), torch.uint8)
        return _Call(
            (
                draw.tensor((rows, k), dtype),
                weight,
                draw.tensor((panels, groups, _BLOCK[0])).abs(),
                draw.tensor([columns]),
                draw.tensor([columns], dtype) if draw.flip() else None,
                draw.flip(),
                1e-7,
            ),
            (rows, columns),
            out_dtype=dtype,
        )

    return call


def _weight_only_linear(draw: _Draw) -> _Call:
    bits, groups = draw.choice((4, 8)), draw.choice((1, 1, 2, 3))
    dtype = draw.choice((torch.float32, *_HALF))
    blocks, columns = draw.sizes(_PRODUCTS // 32, 90, 3000)
    rows, k = draw.choice((1, 2, 4, 7)), blocks * 32 * groups
    weight = draw.tensor((columns, k // 2), torch.uint8) if bits == 4 else draw.tensor((columns, k), torch.int8)
    return _Call(
        (
            draw.tensor((rows, k), dtype),
            weight,
            draw.tensor((columns, groups)),
            draw.tensor([columns], dtype) if draw.flip() else None,
        ),
        (rows, columns),
        out_dtype=dtype,
    )


def _packed_linear(least: int, most_rows: int) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        rows, k, columns = draw.sizes(least, most_rows, 700, 1500)
        k += k % 2
        # Several panels: threads divide a layer by panels.
        columns = max(columns, 200)
        dtype = draw.choice((torch.float32, torch.float32, torch.float64, *_HALF))
        shape = (k // 2, _COLUMNS, 2) if dtype == torch.bfloat16 else (k, _COLUMNS)
        return _Call(
            (
                draw.tensor((rows, k), dtype, draw.choice(((0, 1), (1, 0)))),
                draw.tensor((_divide_up(columns, _COLUMNS), *shape), dtype),
                draw.tensor([columns], dtype) if draw.flip() else None,
                columns,
                *draw.activation(),
            ),
            (rows, columns),
            {},
            dtype,
        )

    return call


def _recurrent(gates: int, most_rows: int) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        directions = draw.choice((1, 2)) if most_rows > 1 else 1
        least = _PRODUCTS if most_rows > 1 else _WEIGHTS_OF_A_ROW
        steps, rows, inputs, units = draw.sizes(least, 7, most_rows, 300, 500)
        # A thread has a row of the batch, or several strips of hidden units.
        rows, units = max(rows, min(most_rows, 2)), max(units, 40 if most_rows > 1 else 440)
        dtype = draw.choice((torch.float32, torch.float32, torch.float64, *_HALF))
        of_biases = torch.float64 if dtype == torch.float64 else torch.float32
        blocks = _divide_up(units, _COLUMNS)
        biases = 4 if gates == 3 else gates
        weights = [
            draw.tensor(shape, kind) / math.sqrt(units)
            for shape, kind in (
                ((blocks * gates, inputs, _COLUMNS), dtype),
                ((blocks * gates, units, _COLUMNS), dtype),
                ((blocks, biases, _COLUMNS), of_biases),
            )
            * directions
        ]
        states = [None] * (2 if gates == 4 else 1)
        of_kind = {4: (units, 0), 3: (units,), 1: (units,)}[gates]
        end = ("tanh",) if gates == 1 else ()
        x = draw.tensor((steps, rows, inputs), dtype)
        return _Call(
            (x, *states, weights, *of_kind, 1, True, directions == 2, False, *end),
            (steps, rows, directions * units),
            {},
            dtype,
            [(directions, rows, units)] * len(states),
        )

    return call


def _linear(draw: _Draw) -> _Call:
    rows, k, columns = draw.sizes(_PRODUCTS, 600, 700, 900)
    dtype = draw.choice((torch.float32, torch.float64, *_HALF))
    return _Call(
        (draw.tensor((rows, k), dtype), draw.tensor((columns, k), dtype), draw.tensor([columns], dtype)),
        (rows, columns),
        {},
        dtype,
    )


def _packed_embedding(draw: _Draw) -> _Call:
    count, rows, width = draw.randint(100, 500), *draw.sizes(_ELEMENTS, 3000, 900)
    indices = torch.tensor([draw.randrange(count) for _ in range(rows)])
    return _Call((draw.tensor((_divide_up(count, _COLUMNS), width, _COLUMNS)), indices, count), (rows, width))


def _activation(draw: _Draw) -> _Call:
    x = draw.tensor(draw.sizes(_ELEMENTS, 9, 900, 3000), draw.choice(op_tester.FLOAT_DTYPES))
    return _Call((x, draw.choice(("hardswish", "mish", "tanh")), 0.0, 0.0), x.shape, {}, x.dtype)


def _image_mean(draw: _Draw) -> _Call:
    batch, channels, height, width = draw.sizes(_ELEMENTS, 9, 900, 30, 30)
    images = draw.tensor((batch, max(channels, 64), height, width), dim_order=_LAST)
    return _Call((images, True), (*images.shape[:2], 1, 1))


def _rms_norm(draw: _Draw) -> _Call:
    shape = draw.sizes(_ELEMENTS, 9, 900, 3000)
    shape = [*shape[:-2], max(shape[-2], 8), shape[-1]]
    dtype = draw.choice(op_tester.FLOAT_DTYPES)
    return _Call((draw.tensor(shape, dtype), draw.tensor(shape[-1:], dtype), 1, 1e-5), shape, {}, dtype)


def _attention(least: int, most_queries: int) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        batch, shared = draw.choice((1, 1, 5)), draw.choice((1, 1, 2, 4))
        heads, queries, keys, size = draw.sizes(least, 12, most_queries, 1500, 70)
        heads, keys = max(heads, 2), max(keys, 100)
        value_size = draw.choice((size, 1 + size // 2))
        dtype = draw.choice((torch.float32, torch.float32, torch.float64, *_HALF))
        mask = draw.tensor((queries, keys), dtype) if draw.flip() else None
        options = {"is_causal": queries > 3 and mask is None and draw.flip(), "scale": draw.choice((None, 0.1))}
        return _Call(
            (
                draw.tensor((batch, heads * shared, queries, size), dtype),
                draw.tensor((batch, heads, keys, size), dtype),
                draw.tensor((batch, heads, keys, value_size), dtype),
                mask,
            ),
            (batch, heads * shared, queries, value_size),
            options,
            dtype,
        )

    return call


def _unary(*extra: Any) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        shape = draw.sizes(_ELEMENTS, 9, 100, 90, 70)
        order = draw.choice((_FIRST, _LAST))
        return _Call(
            (draw.tensor(shape, draw.choice(op_tester.FLOAT_DTYPES), order), *extra),
            None,
            {"out_dim_order": draw.choice((_FIRST, _LAST)), "static": True},
        )

    return call


def _along_rows(*extra: Any) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        rows, columns = draw.sizes(_ELEMENTS, 3000, 3000)
        return _Call((draw.tensor((max(rows, 9), columns), draw.choice(op_tester.FLOAT_DTYPES)), *extra))

    return call


def _add(draw: _Draw) -> _Call:
    shape = draw.sizes(_ELEMENTS, 9, 100, 90, 70)
    broadcast = [size if draw.flip() else 1 for size in shape]
    dtype = draw.choice(op_tester.FLOAT_DTYPES)
    return _Call((draw.tensor(shape, dtype, draw.choice((_FIRST, _LAST))), draw.tensor(broadcast, dtype)))


def _full(draw: _Draw) -> _Call:
    shape = draw.sizes(_ELEMENTS, 900, 900)
    return _Call((shape, 1.5), shape, {"out_dim_order": draw.choice(((0, 1), (1, 0))), "static": True})


def _permute(draw: _Draw) -> _Call:
    shape, order = draw.sizes(_ELEMENTS, 9, 100, 90, 70), [*range(4)]
    draw.shuffle(order)
    return _Call((draw.tensor(shape, draw.choice((torch.float32, torch.int8))), order))


def _embedding(draw: _Draw) -> _Call:
    count, batch, rows, width = draw.randint(2, 500), *draw.sizes(_ELEMENTS, 9, 2000, 900)
    positions = draw.positions((batch, max(rows, 9)), count)
    return _Call((draw.tensor((count, width), draw.choice((torch.float32, torch.int8))), positions))


def _index(draw: _Draw) -> _Call:
    outer, rest, size, *shape = draw.sizes(_ELEMENTS * 90, 5, 200, 90, 9, 900)
    x = draw.tensor((outer, size, rest), draw.choice((torch.float32, torch.int8, torch.complex128)))
    return _Call((x, [None, draw.positions(shape, size) - draw.choice((0, size))]))


def _index_of_elements(draw: _Draw) -> _Call:
    size, others, *shape = draw.sizes(_ELEMENTS * 900, 30, 30, 90, 3000)
    x = draw.tensor((size, others), draw.choice((torch.float32, torch.int8, torch.complex128)))
    return _Call((x, [draw.positions(shape, size), draw.positions(shape[1:], others)]))


def _gather(draw: _Draw) -> _Call:
    rows, columns, size = *draw.sizes(_ELEMENTS, 900, 900), draw.randint(1, 90)
    dim = draw.choice((0, 1))
    shape = [rows, columns]
    shape[dim] = size
    x = draw.tensor(shape, draw.choice((torch.float32, torch.int8)))
    return _Call((x, dim, draw.positions((rows, columns), size)))


def _concatenation(*, is_stack: bool) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        shape, dim, count = draw.sizes(_ELEMENTS, 90, 100, 90), draw.choice((0, 1, 2)), draw.randint(1, 5)
        dtypes = draw.choice(([torch.float32], [torch.float32, torch.int32]))
        tensors = []
        for _ in range(count):
            own = [*shape]
            own[dim] += 0 if is_stack else draw.randint(1, 9)
            tensors.append(draw.tensor(own, draw.choice(dtypes)))
        return _Call((tensors, dim))

    return call


def _repeat(draw: _Draw) -> _Call:
    shape = draw.sizes(_ELEMENTS // 8, 9, 100, 90, 70)
    dtype = draw.choice((torch.float32, torch.int8, torch.complex128))
    return _Call((draw.tensor(shape, dtype), draw.choice(([2, 1, 2, 3], [3, 1, 4, 1, 1], [1, 2, 5, 1]))))


def _reduction(*extra: Any) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        shape = draw.sizes(_ELEMENTS, 9, 100, 90, 70)
        return _Call((draw.tensor(shape, dim_order=draw.choice((_FIRST, _LAST))), *extra))

    return call


def _layer_norm(draw: _Draw) -> _Call:
    rows, n = draw.sizes(_ELEMENTS, 3000, 3000)
    return _Call((draw.tensor((max(rows, 9), n)), [n], draw.tensor([n]), draw.tensor([n]), 1e-5))


def _group_norm(dim_order: Sequence[int]) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        batch, groups, channels, numel = draw.sizes(_ELEMENTS, 3, 9, 20, 4000)
        groups = max(groups, 8)
        x = draw.tensor((batch, groups * channels, numel, 1), dim_order=dim_order)
        factors = draw.tensor([groups * channels])
        arguments = (x, factors, factors, batch, groups * channels, numel, groups, 1e-5)
        return _Call(arguments, None, {"out_dim_order": dim_order, "static": True})

    return call


def _mm(least: int, most_rows: int) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        m, k, n = draw.sizes(least, most_rows, 700, 1200)
        dtype = draw.choice((torch.float32, torch.float64, *_HALF))
        orders = [draw.choice(((0, 1), (1, 0))) for _ in range(2)]
        return _Call((draw.tensor((m, k), dtype, orders[0]), draw.tensor((k, n), dtype, orders[1])), (m, n), {}, dtype)

    return call


def _bmm(draw: _Draw) -> _Call:
    batch, m, k, n = draw.sizes(_PRODUCTS, 20, 100, 100, 100)
    return _Call((draw.tensor((batch, m, k)), draw.tensor((batch, k, n))), (batch, m, n))


def _pooling(*extra: Any) -> Callable[[_Draw], _Call]:
    def call(draw: _Draw) -> _Call:
        batch, channels, height, width = draw.sizes(_ELEMENTS, 3, 60, 80, 80)
        shape = (batch, max(channels, 4), max(height, 8), max(width, 8))
        return _Call((draw.tensor(shape, dim_order=draw.choice((_FIRST, _LAST))), *extra))

    return call


def _grid_sampler(draw: _Draw) -> _Call:
    batch, channels, height, width = draw.sizes(_ELEMENTS, 3, 20, 80, 80)
    grid = draw.tensor((batch, max(height, 4), width, 2)) / 2
    return _Call((draw.tensor((batch, channels, 20, 30)), grid, 0, 0, False))


def _cdist(draw: _Draw) -> _Call:
    rows, others, size = draw.sizes(_ELEMENTS, 300, 300, 90)
    return _Call((draw.tensor((rows, size)), draw.tensor((others, size)), 2.0, None))


def _pdist(draw: _Draw) -> _Call:
    return _Call((draw.tensor((draw.randint(100, 200), draw.randint(40, 90))), 2.0))


# By operator and by variant of the kernel.
_CALLS: Mapping[str, Mapping[str, Callable[[_Draw], _Call]]] = {
    "rules_executorch::activation.out": {"": _activation},
    "rules_executorch::dynamic_linear.out": {
        "rows": _dynamic_linear(_PRODUCTS * 8, 200),
        "one row": _dynamic_linear(_WEIGHTS_OF_A_ROW, 1),
    },
    "rules_executorch::fused_convolution.out": {
        f"{kind}, {name}": _fused_convolution(kind, order)
        for kind in (_MIXED, _GROUPED, _DEPTHWISE)
        for name, order in (("first", _FIRST), ("last", _LAST))
    },
    "rules_executorch::image_mean.out": {"": _image_mean},
    "rules_executorch::packed_convolution.out": {
        f"{name}, {dtype}": _packed_convolution(kind, order, dtype)
        for dtype in (torch.float32, *_HALF)
        for name, kind, order in (
            ("in place", _MIXED, _LAST),
            ("copied", _MIXED, _FIRST),
            ("merged", _FEW, _LAST),
            ("grouped", _GROUPED, _LAST),
            ("grouped, copied", _GROUPED, _FIRST),
            ("depthwise", _DEPTHWISE, _LAST),
            ("depthwise, copied", _DEPTHWISE, _FIRST),
        )
    }
    | {f"transposed, {dtype}": _transposed_convolution(dtype) for dtype in (torch.float32, *_HALF)}
    | {
        f"volumes, {kernel}, {name}, {dtype}": _packed_volumes(dtype, kernel, order)
        for dtype in (torch.float32, *_HALF)
        for kernel in ((3, 2, 3), (3, 1, 1), (1, 3, 3))
        for name, order in (("in place", _LAST_OF_VOLUMES), ("copied", (0, 1, 2, 3, 4)))
    },
    "rules_executorch::packed_embedding.out": {"": _packed_embedding},
    **{
        f"rules_executorch::packed_{kind}.out": {"rows": _recurrent(gates, 9), "one row": _recurrent(gates, 1)}
        for kind, gates in (("gru", 3), ("lstm", 4), ("rnn", 1))
    },
    "rules_executorch::packed_linear.out": {
        "rows": _packed_linear(_PRODUCTS, 1200),
        "one row": _packed_linear(_WEIGHTS_OF_A_ROW, 1),
    },
    "rules_executorch::quantized_add.out": {"": _quantized_add},
    "rules_executorch::quantized_convolution.out": {
        "copied": _quantized_convolution(_MIXED),
        "few channels": _quantized_convolution(_FEW),
        "grouped": _quantized_convolution(_GROUPED),
        "depthwise": _quantized_convolution(_DEPTHWISE),
        "in place": _pointwise_quantized_convolution,
    },
    "rules_executorch::quantized_linear.out": {
        "rows": _quantized_linear(_PRODUCTS * 4, 300),
        "one row": _quantized_linear(_WEIGHTS_OF_A_ROW, 1),
    },
    "rules_executorch::quantized_lookup.out": {"": _quantized_lookup},
    "rules_executorch::rms_norm.out": {"": _rms_norm},
    "rules_executorch::scaled_dot_product_attention.out": {
        "one query": _attention(_WEIGHTS_OF_A_ROW, 1),
        "few queries": _attention(_PRODUCTS, 3),
        "many queries": _attention(_PRODUCTS, 300),
    },
    "rules_executorch::weight_only_linear.out": {"": _weight_only_linear},
    "rules_executorch::winograd_convolution.out": {f"tiles of {n}": _winograd_convolution(n) for n in (2, 4)},
    "aten::linear.out": {"": _linear},
    # At least one operator for each file of kernels/ outside of kernels/optimized that divides work among threads.
    "aten::_cdist_forward.out": {"": _cdist},
    "aten::_log_softmax.out": {"": _along_rows(-1, False)},
    "aten::_pdist_forward.out": {"": _pdist},
    "aten::_softmax.out": {"rows": _along_rows(-1, False), "channels": _unary(1, False)},
    "aten::add.out": {"": _add},
    "aten::argmax.out": {"": _reduction(1)},
    "aten::avg_pool2d.out": {"": _pooling([3, 3], [1, 1], [1, 1])},
    "aten::bmm.out": {"": _bmm},
    "aten::cat.out": {"": _concatenation(is_stack=False)},
    "aten::convolution.out": {
        f"{kind}, {name}": _convolution(kind, order)
        for kind in (_MIXED, _GROUPED, _DEPTHWISE)
        for name, order in (("first", _FIRST), ("last", _LAST))
    },
    "aten::convolution_backward.out": {"": _convolution_backward},
    "aten::cumsum.out": {"": _along_rows(1)},
    "aten::embedding.out": {"": _embedding},
    "aten::exp.out": {"": _unary()},
    "aten::full.out": {"": _full},
    "aten::gather.out": {"": _gather},
    "aten::gelu.out": {"": _unary()},
    "aten::grid_sampler_2d.out": {"": _grid_sampler},
    "aten::index.Tensor_out": {"elements": _index_of_elements, "rows": _index},
    "aten::max_pool2d_with_indices.out": {"": _pooling([3, 3], [1, 1], [1, 1])},
    "aten::mean.out": {"": _reduction([1, 3])},
    "aten::mm.out": {"rows": _mm(_PRODUCTS, 600), "one row": _mm(_WEIGHTS_OF_A_ROW, 1)},
    "aten::native_group_norm.out": {"": _group_norm(_FIRST), "channels-last": _group_norm(_LAST)},
    "aten::native_layer_norm.out": {"": _layer_norm},
    "aten::permute_copy.out": {"": _permute},
    "aten::repeat.out": {"": _repeat},
    "aten::stack.out": {"": _concatenation(is_stack=True)},
    "aten::sum.IntList_out": {"all": _reduction([]), "some": _reduction([0, 2])},
    "aten::upsample_bilinear2d.vec_out": {"": _pooling([90, 70], False, None)},
    "aten::upsample_nearest2d.vec_out": {"": _pooling([170, 190], None)},
    "aten::var.correction_out": {"": _reduction([1])},
}


class ThreadsTest(op_tester.OpTest):
    def test_every_operator_of_this_folder_has_calls(self) -> None:
        self.assertEqual([name for name in _SCHEMAS if name not in _CALLS], [])

    def test_division(self) -> None:
        for name, ways in _CALLS.items():
            if name not in (_OPERATORS.value or _CALLS):
                continue
            tester = self.op(name, schema=_SCHEMAS.get(name))
            for (way, make), seed in itertools.product(ways.items(), _SEEDS):
                with self.subTest(operator=name, way=way, seed=seed):
                    call = make(_Draw(seed))
                    tester.check_threads(*call.args, outs=call.outs, **call.options)


if __name__ == "__main__":
    absltest.main()
