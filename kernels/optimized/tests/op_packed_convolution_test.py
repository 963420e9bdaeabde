"""Tests of op_packed_convolution.cpp, against PyTorch's convolution, padding and activations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from absl.testing import absltest
from torch.nn import functional

from export.graph_passes import layouts
from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

# The number of columns of a panel of weights.
_COLUMNS = layouts.FLOAT_PANEL_COLUMNS
_FIRST = (0, 1, 2, 3)
_LAST = (0, 2, 3, 1)

# The shapes of input and weight, and the groups: images with few channels and with rows of more pixels than a block;
# one kernel position; sums of several parts; partial panels; groups with whole panels, half a panel and fewer channels;
# depthwise with fewer and more channels than a vector, and with more than are computed at a time; blocks of pixels that
# start within a row, or start in one image and end in the next; one pixel.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    ((2, 3, 17, 19), (20, 3, 3, 3), 1),
    ((1, 3, 9, 1100), (33, 3, 3, 5), 1),
    ((3, 16, 19, 17), (48, 16, 1, 1), 1),
    ((2, 20, 12, 9), (100, 20, 1, 1), 1),
    ((2, 24, 9, 7), (50, 24, 3, 3), 1),
    ((1, 300, 5, 6), (96, 300, 3, 2), 1),
    ((2, 12, 8, 8), (30, 6, 3, 3), 2),
    ((1, 64, 7, 7), (64, 16, 3, 3), 4),
    ((2, 32, 7, 9), (32, 8, 3, 3), 4),
    ((1, 24, 9, 8), (40, 3, 3, 2), 8),
    ((2, 40, 9, 11), (40, 1, 3, 3), 40),
    ((2, 200, 4, 5), (200, 1, 3, 3), 200),
    ((1, 5, 9, 11), (5, 1, 3, 3), 5),
    ((1, 32, 30, 30), (32, 1, 5, 5), 32),
    ((3, 7, 6, 5), (1, 7, 2, 2), 1),
    ((1, 600, 1, 1), (17, 600, 1, 1), 1),
)
# Strides, padding before and after, dilation.
_STEPS = (
    ((1, 1), (0, 0), (0, 0), (1, 1)),
    ((2, 2), (1, 1), (1, 1), (1, 1)),
    ((1, 2), (0, 1), (1, 2), (2, 1)),
    ((2, 1), (2, 3), (0, 1), (1, 2)),
    ((3, 2), (4, 5), (3, 6), (1, 1)),
)

# Convolutions of volumes: the shapes of input and weight, the groups, strides, padding before and after, dilation. A
# kernel with all three dimensions, with few channels and many; slices that are convolved alone, with a stride of the
# slices, too; pixels that are convolved alone, in slices of more pixels than a block; the same with padding of the
# rows; a stride of 2 alone; groups; depthwise, with a kernel of all dimensions and of two; one slice, row, or column.
_VOLUMES: tuple[tuple[tuple[int, ...], tuple[int, ...], int, Sequence[Sequence[int]]], ...] = (
    ((2, 3, 5, 9, 8), (20, 3, 3, 3, 3), 1, ((1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1))),
    ((1, 2, 3, 4, 600), (17, 2, 2, 3, 3), 1, ((1, 2, 1), (0, 1, 2), (1, 0, 1), (2, 1, 1))),
    ((2, 24, 4, 6, 7), (50, 24, 3, 2, 3), 1, ((1, 2, 2), (1, 0, 2), (2, 1, 0), (1, 2, 1))),
    ((1, 20, 6, 5, 4), (33, 20, 3, 3, 3), 1, ((2, 1, 3), (4, 3, 0), (0, 2, 4), (2, 1, 2))),
    ((2, 40, 3, 9, 7), (50, 40, 1, 3, 3), 1, ((1, 1, 1), (0, 1, 1), (0, 1, 1), (1, 1, 1))),
    ((2, 3, 4, 9, 7), (33, 3, 1, 3, 3), 1, ((1, 2, 2), (0, 1, 1), (0, 1, 1), (1, 1, 1))),
    ((2, 16, 5, 6, 7), (20, 16, 1, 2, 2), 1, ((2, 1, 1), (1, 0, 0), (0, 1, 1), (1, 1, 1))),
    ((2, 40, 5, 24, 25), (50, 40, 3, 1, 1), 1, ((1, 1, 1), (1, 0, 0), (1, 0, 0), (1, 1, 1))),
    ((2, 3, 5, 24, 25), (17, 3, 3, 1, 1), 1, ((1, 1, 1), (1, 0, 0), (1, 0, 0), (1, 1, 1))),
    ((1, 300, 7, 3, 4), (20, 300, 2, 1, 1), 1, ((3, 1, 1), (2, 0, 0), (1, 0, 0), (2, 1, 1))),
    ((2, 24, 5, 4, 3), (16, 24, 3, 1, 1), 1, ((1, 1, 1), (1, 0, 2), (1, 1, 0), (1, 1, 1))),
    ((2, 24, 5, 6, 7), (33, 24, 1, 1, 1), 1, ((2, 2, 2), (0, 0, 0), (0, 0, 0), (1, 1, 1))),
    ((2, 24, 3, 4, 5), (33, 24, 1, 1, 1), 1, ((1, 1, 1), (0, 0, 0), (0, 0, 0), (1, 1, 1))),
    ((2, 24, 4, 6, 7), (32, 12, 3, 3, 3), 2, ((1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1))),
    ((2, 24, 4, 6, 7), (32, 12, 3, 1, 1), 2, ((1, 1, 1), (1, 0, 0), (1, 0, 0), (1, 1, 1))),
    ((2, 40, 4, 9, 8), (40, 1, 3, 3, 3), 40, ((1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1))),
    ((2, 40, 3, 9, 8), (40, 1, 1, 3, 3), 40, ((1, 1, 1), (0, 1, 1), (0, 1, 1), (1, 1, 1))),
    ((2, 40, 5, 7, 8), (40, 1, 3, 1, 1), 40, ((2, 1, 1), (1, 0, 0), (1, 0, 0), (1, 1, 1))),
    ((2, 5, 4, 5, 6), (5, 1, 2, 3, 2), 5, ((1, 2, 1), (1, 1, 0), (0, 1, 1), (1, 1, 2))),
    ((3, 16, 1, 5, 6), (20, 16, 1, 3, 3), 1, ((1, 1, 1), (0, 1, 1), (0, 1, 1), (1, 1, 1))),
    ((2, 16, 5, 1, 6), (20, 16, 3, 1, 1), 1, ((1, 1, 1), (1, 0, 0), (1, 0, 0), (1, 1, 1))),
    ((2, 16, 5, 6, 1), (20, 16, 3, 1, 1), 1, ((1, 1, 1), (1, 0, 0), (1, 0, 0), (1, 1, 1))),
)

# Transposed convolutions: the shapes of input and weight, the groups, strides, padding before and after (a negative
# one adds outputs), dilation. The kernel is a multiple of the stride or not; one kernel position; sums of several
# parts; few channels; groups; rows of more pixels than a block; fewer outputs than a stride; more padding than the
# kernel.
_TRANSPOSED: tuple[tuple[tuple[int, ...], tuple[int, ...], int, Sequence[Sequence[int]]], ...] = (
    ((2, 20, 7, 9), (20, 33, 4, 4), 1, ((2, 2), (1, 1), (1, 1), (1, 1))),
    ((1, 16, 5, 6), (16, 16, 2, 3), 1, ((2, 3), (0, 0), (0, 0), (1, 1))),
    ((2, 24, 6, 5), (24, 50, 3, 5), 1, ((2, 2), (1, 2), (0, 1), (1, 3))),
    ((1, 300, 4, 3), (300, 20, 3, 4), 1, ((1, 3), (0, 1), (-2, 2), (2, 2))),
    ((3, 3, 8, 7), (3, 17, 3, 3), 1, ((2, 1), (0, 2), (1, 2), (1, 2))),
    ((2, 24, 7, 8), (24, 12, 4, 3), 2, ((2, 2), (1, 0), (1, -1), (1, 1))),
    ((1, 3, 2, 600), (3, 8, 1, 16), 1, ((1, 8), (0, 4), (0, 4), (1, 1))),
    ((1, 32, 1, 1), (32, 16, 5, 5), 1, ((5, 4), (2, 2), (1, 2), (1, 1))),
    ((1, 16, 4, 4), (16, 16, 3, 3), 1, ((1, 1), (3, 4), (2, 0), (1, 1))),
    ((2, 9, 3, 4), (9, 8, 1, 1), 1, ((1, 1), (0, 0), (0, 0), (1, 1))),
)

_ACTIVATIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda x: x,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
}


def _packed(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """Packs a weight into panels, row by row. In bfloat16, a row has pairs of input channels."""
    channels = weight.shape[0] // groups
    if weight.dtype == torch.bfloat16 and groups == 1:
        weight = functional.pad(weight, (*[0, 0] * (weight.dim() - 2), 0, weight.shape[1] % 2))
    if channels == weight.shape[1] == 1 and groups > 1:
        return torch.stack([one.flatten() for one in weight], dim=1)
    rows = []
    step = 2 if weight.dtype == torch.bfloat16 and weight.shape[1] % 2 == 0 else 1
    for group in weight.split(channels):
        for first in range(0, channels, _COLUMNS):
            panel = group[first : first + _COLUMNS]
            for *position, c in itertools.product(*(range(size) for size in (*weight.shape[2:], weight.shape[1]))):
                if c % step == 0:
                    inputs = panel[(slice(None), slice(c, c + step), *position)]
                    row = functional.pad(inputs, (0, 0, 0, _COLUMNS - len(panel)))
                    rows.append(row.flatten())
    pair = (2,) if step == 2 else ()
    return torch.cat(rows).reshape(groups, -(-channels // _COLUMNS), -1, _COLUMNS, *pair)


def _in_phases(
    kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """Yields the kernel positions of a transposed convolution, output by output of a stride, in the order of inputs."""
    for first in itertools.product(*map(range, stride)):
        for position in itertools.product(*(reversed(range(size)) for size in kernel_size)):
            places = zip(position, dilation, padding, first, stride, strict=True)
            if all((k * far - before - out) % step == 0 for k, far, before, out, step in places):
                yield position


def _packed_transposed(weight: torch.Tensor, groups: int, steps: Sequence[Sequence[int]]) -> torch.Tensor:
    """Packs the weight of a transposed convolution as one with a kernel of one row."""
    stride, padding, _, dilation = steps
    parts = [part.transpose(0, 1) for part in weight.chunk(groups)]
    positions = list(_in_phases(weight.shape[2:], stride, padding, dilation))
    return _packed(torch.stack([torch.cat(parts)[:, :, y, x] for y, x in positions], 2).unsqueeze(2), groups)


def _unpacked(packed: torch.Tensor, kernel_size: Sequence[int], out_channels: int, groups: int) -> torch.Tensor:
    packed = packed.double()
    if packed.dim() == 2:
        return packed.t().reshape(groups, 1, *kernel_size)
    if packed.dim() == 5:
        packed = packed.transpose(3, 4).flatten(2, 3)
    weights = []
    for group in packed:
        of_group = torch.cat([panel.t() for panel in group])[: out_channels // groups]
        weights.append(of_group.reshape(-1, *kernel_size, packed.shape[2] // math.prod(kernel_size)))
    return torch.cat(weights).movedim(-1, 1)


def _reference(  # noqa: PLR0917  # The parameters of the operator.
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    addend: torch.Tensor | None,
    kernel_size: Sequence[int],
    out_channels: int,
    stride: Sequence[int],
    padding: Sequence[int],
    end_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    activation: str = "none",
    minimum: float = 0.0,
    maximum: float = 0.0,
    transposed: bool = False,
) -> torch.Tensor:
    """PyTorch's result in float64."""
    if {x.dtype for x in (weight, bias, addend) if x is not None} != {input.dtype} or input.dtype == torch.float64:
        raise ValueError("expected tensors of the same dtype: Float, Half or BFloat16")
    unpacked = _unpacked(weight, kernel_size, out_channels, groups)[:, : input.shape[1] // groups]
    if transposed:
        weights = torch.empty_like(unpacked)
        for packed_at, (y, x) in enumerate(_in_phases(kernel_size, stride, padding, dilation)):
            weights[:, :, y, x] = unpacked.flatten(2)[:, :, packed_at]
        by_input = torch.cat([part.transpose(0, 1) for part in weights.chunk(groups)])
        sums = functional.conv_transpose2d(input.double(), by_input, None, [*stride], 0, 0, groups, [*dilation])
        result = functional.pad(sums, [-padding[1], -end_padding[1], -padding[0], -end_padding[0]])
    else:
        widths = zip(reversed(padding), reversed(end_padding), strict=True)
        padded = functional.pad(input.double(), [width for both in widths for width in both])
        convolve = functional.conv3d if input.dim() == 5 else functional.conv2d
        result = convolve(padded, unpacked, None, [*stride], 0, [*dilation], groups)
    if bias is not None:
        result = result + bias.double().reshape(-1, *[1] * (input.dim() - 2))
    if addend is not None:
        result = result + addend.double()
    result = result.clamp(minimum, maximum) if activation == "clamp" else _ACTIVATIONS[activation](result)
    return result.to(input.dtype)


def _random(
    shape: Sequence[int], dim_order: Sequence[int] | None = None, dtype: torch.dtype = torch.float32
) -> torch.Tensor:
    return op_tester.make_tensor(tuple(shape), dtype, dim_order=dim_order, low=-1, high=1)


def _out_shape(x: torch.Tensor, weight: torch.Tensor, steps: Sequence[Sequence[int]]) -> list[int]:
    sizes = [
        (size + before + behind - dilation * (kernel - 1) - 1) // stride + 1
        for size, kernel, stride, before, behind, dilation in zip(x.shape[2:], weight.shape[2:], *steps, strict=True)
    ]
    return [x.shape[0], weight.shape[0], *sizes]


class OpPackedConvolutionTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.convolution = self.op(
            "rules_executorch::packed_convolution.out",
            schema=SCHEMAS["rules_executorch::packed_convolution.out"],
            reference=_reference,
        )

    def test_sizes(self) -> None:
        for (x_shape, weight_shape, groups), steps in itertools.product(_CASES, _STEPS):
            for order, has_addend in ((_LAST, False), (_LAST, True), (_FIRST, True)):
                x, weight = _random(x_shape, order), _random(weight_shape)
                sizes = _out_shape(x, weight, steps)
                if min(sizes) < 1:
                    continue
                bias = _random(weight_shape[:1]) if has_addend else None
                addend = _random(sizes, _LAST) if has_addend else None
                arguments = (weight_shape[2:], weight_shape[0], *steps, groups)
                self.convolution.check(
                    x, _packed(weight, groups), bias, addend, *arguments, out_dim_order=_LAST, static=True, atol=1e-4
                )

    def test_half_precision(self) -> None:
        """Sums are computed in float and rounded once."""
        # The dtypes alternate: each shape has both.
        for number, ((x_shape, weight_shape, groups), steps) in enumerate(itertools.product(_CASES, _STEPS)):
            dtype = (torch.float16, torch.bfloat16)[number % 2]
            for order, has_addend in ((_LAST, False), (_LAST, True), (_FIRST, True)):
                x, weight = _random(x_shape, order, dtype), _random(weight_shape, None, dtype)
                sizes = _out_shape(x, weight, steps)
                if min(sizes) < 1:
                    continue
                bias = _random(weight_shape[:1], None, dtype) if has_addend else None
                addend = _random(sizes, _LAST, dtype) if has_addend else None
                arguments = (weight_shape[2:], weight_shape[0], *steps, groups)
                activation = ("clamp", -2.0, 3.0) if order == _FIRST else ("silu",) if has_addend else ()
                self.convolution.check(
                    *(x, _packed(weight, groups), bias, addend, *arguments, *activation),
                    out_dim_order=_LAST,
                    static=True,
                    rtol=torch.finfo(dtype).eps,
                    atol=1e-3,
                )

    def test_volumes(self) -> None:
        last = (0, 2, 3, 4, 1)
        for dtype, (x_shape, weight_shape, groups, steps) in itertools.product(
            (torch.float32, torch.float16, torch.bfloat16), _VOLUMES
        ):
            for order, has_addend, activation in (
                (last, False, ("none",)),
                (last, True, ("silu",)),
                ((0, 1, 2, 3, 4), True, ("clamp", -1.0, 2.0)),
                ((4, 3, 2, 1, 0), False, ("none",)),
            ):
                x, weight = _random(x_shape, order, dtype), _random(weight_shape, None, dtype)
                bias = _random(weight_shape[:1], None, dtype) if has_addend else None
                addend = _random(_out_shape(x, weight, steps), last, dtype) if has_addend else None
                self.convolution.check(
                    *(x, _packed(weight, groups), bias, addend, weight_shape[2:], weight_shape[0], *steps, groups),
                    *activation,
                    out_dim_order=last,
                    static=True,
                    rtol=1e-5 if dtype == torch.float32 else torch.finfo(dtype).eps,
                    atol=1e-4 if dtype == torch.float32 else 1e-3,
                )

    def test_transposed(self) -> None:
        for dtype, (x_shape, weight_shape, groups, steps) in itertools.product(
            (torch.float32, torch.float16, torch.bfloat16), _TRANSPOSED
        ):
            out_channels = weight_shape[1] * groups
            sizes = [
                (size - 1) * stride + dilation * (kernel - 1) + 1 - before - behind
                for size, kernel, stride, before, behind, dilation in zip(
                    x_shape[2:], weight_shape[2:], *steps, strict=True
                )
            ]
            for order, has_addend, activation in (
                (_LAST, False, ("none",)),
                (_LAST, True, ("silu",)),
                (_FIRST, True, ("clamp", -1.0, 2.0)),
            ):
                x, weight = _random(x_shape, order, dtype), _random(weight_shape, None, dtype)
                bias = _random([out_channels], None, dtype) if has_addend else None
                addend = _random([x_shape[0], out_channels, *sizes], _LAST, dtype) if has_addend else None
                packed = _packed_transposed(weight, groups, steps)
                self.convolution.check(
                    *(x, packed, bias, addend, weight_shape[2:], out_channels, *steps, groups),
                    *(*activation, 0.0, 0.0)[:3],
                    True,
                    out_dim_order=_LAST,
                    static=True,
                    rtol=1e-5 if dtype == torch.float32 else torch.finfo(dtype).eps,
                    atol=1e-4 if dtype == torch.float32 else 1e-3,
                )

    def test_wrong_transposed_convolutions(self) -> None:
        x = torch.ones(1, 8, 4, 4).to(memory_format=torch.channels_last)
        weight = _packed(torch.ones(20, 8, 2, 2), 1)

        def check(function: Callable[..., object], *lists: Sequence[int], **options: Any) -> None:
            function(
                *(x, weight, None, None, [2, 2], 20, *lists, 1, "none", 0.0, 0.0, True),
                **options,
                out_dim_order=_LAST,
                static=True,
            )

        check(self.convolution.check, [2, 1], [0, 0], [1, 0], [1, 2])
        out = torch.ones(1, 20, 7, 6).to(memory_format=torch.channels_last)
        for lists in (
            ([3, 1], [0, 0], [1, 0], [1, 2]),  # Outputs without a kernel position.
            ([2, 1], [0, 0], [1, 0], [2, 2]),
            ([2, 1], [-1, 0], [1, 0], [1, 2]),
            ([2, 1], [0, 0], [8, 0], [1, 2]),  # No outputs.
        ):
            check(self.convolution.check_rejected, *lists, outs=[out])
        volume = torch.ones(1, 8, 1, 4, 4).to(memory_format=torch.channels_last_3d)
        lists = ([1, 2, 1], [0, 0, 0], [0, 1, 0], [1, 1, 2])
        self.convolution.check_rejected(
            *(volume, weight, None, None, [1, 2, 2], 20, *lists, 1, "none", 0.0, 0.0, True),
            outs=[torch.ones(1, 20, 1, 7, 6).to(memory_format=torch.channels_last_3d)],
            out_dim_order=(0, 2, 3, 4, 1),
            static=True,
        )
        depthwise = ([2, 2], 8, [2, 2], [0, 0], [0, 0], [1, 1], 8, "none", 0.0, 0.0, True)
        self.convolution.check_rejected(
            *(x, torch.ones(4, 8), None, None, *depthwise),
            outs=[torch.ones(1, 8, 8, 8).to(memory_format=torch.channels_last)],
            out_dim_order=_LAST,
            static=True,
        )

    def test_every_number(self) -> None:
        """The conversions of inputs, weights, addends and results are exact for all 16-bit numbers."""
        for dtype in (torch.float16, torch.bfloat16):
            numbers = torch.arange(-(2**15), 2**15).to(torch.int16).view(dtype)
            numbers = torch.where(numbers.abs() < torch.finfo(dtype).smallest_normal, 0, numbers)
            x = numbers.reshape(1, 16, 64, 64).to(memory_format=torch.channels_last)
            zeros = torch.zeros_like(x)
            for weight, groups in ((torch.eye(16)[:, :, None, None], 1), (torch.ones(16, 1, 1, 1), 16)):
                arguments = ([1, 1], 16, [1, 1], [0, 0], [0, 0], [1, 1], groups)
                packed = _packed(weight.to(dtype), groups)
                finite = torch.where(x.isfinite(), x, 0)
                for one, addend in ((finite, None), (zeros, x)):
                    self.convolution.check(
                        *(one, packed, None, addend, *arguments), out_dim_order=_LAST, static=True, rtol=0, atol=0
                    )

    def test_activations(self) -> None:
        for x_shape, weight_shape, groups in _CASES[2:10]:
            x, weight, bias = _random(x_shape, _LAST), _random(weight_shape), _random(weight_shape[:1])
            steps = ((1, 1), (1, 1), (1, 1), (1, 1))
            addend = _random(_out_shape(x, weight, steps), _LAST)
            arguments = (x, _packed(weight, groups), bias, addend, weight_shape[2:], weight_shape[0], *steps, groups)
            for activation in _ACTIVATIONS:
                self.convolution.check(*arguments, activation, out_dim_order=_LAST, static=True, atol=1e-4)
            for bounds in ((0.0, math.inf), (0.0, 0.5), (-math.inf, 0.1), (0.5, -0.5)):
                self.convolution.check(*arguments, "clamp", *bounds, out_dim_order=_LAST, static=True, atol=1e-4)

    def test_dim_orders(self) -> None:
        ones = (((2, 1, 6, 5), (20, 1, 3, 3), 1), ((1, 20, 1, 1), (3, 20, 1, 1), 1), ((1, 16, 1, 6), (16, 1, 1, 3), 16))
        one_channel = ((2, 8, 6, 1), (1, 8, 3, 1), 1)
        for x_shape, weight_shape, groups in (_CASES[0], _CASES[5], _CASES[7], *ones, one_channel):
            x, weight, bias = _random(x_shape), _random(weight_shape), _random(weight_shape[:1])
            steps = ([1, 1], [1, 1], [0, 1], [1, 1])
            addend = _random(_out_shape(x, weight, steps))
            arguments = (weight_shape[2:], weight_shape[0], *steps, groups)
            declared_dim_orders.check(self.convolution, x, _packed(weight, groups), bias, addend, *arguments, atol=1e-4)
        for x_shape, weight_shape, groups, volume_steps in (_VOLUMES[0], _VOLUMES[4], _VOLUMES[7], *_VOLUMES[-3:]):
            x, weight, bias = _random(x_shape), _random(weight_shape), _random(weight_shape[:1])
            addend = _random(_out_shape(x, weight, volume_steps))
            sizes = (weight_shape[2:], weight_shape[0], *volume_steps, groups)
            declared_dim_orders.check(self.convolution, x, _packed(weight, groups), bias, addend, *sizes, atol=1e-4)

    def test_values_that_are_no_numbers(self) -> None:
        x = torch.ones(1, 16, 4, 5).to(memory_format=torch.channels_last)
        x[0, 1, 2, 3] = math.nan
        x[0, 0, 0, 0] = math.inf
        for weight, groups in ((torch.ones(17, 16, 2, 2), 1), (torch.ones(16, 1, 2, 2), 16)):
            arguments = ([2, 2], len(weight), [1, 1], [0, 0], [1, 1], [1, 1], groups)
            for activation in ("none", "clamp", "gelu", "silu"):
                self.convolution.check(
                    *(x, _packed(weight, groups), None, None, *arguments, activation, 0.0, 6.0),
                    out_dim_order=_LAST,
                    static=True,
                )

    def test_no_images(self) -> None:
        x, weight = torch.ones(0, 16, 4, 5).to(memory_format=torch.channels_last), torch.ones(16, 16, 2, 2)
        arguments = ([2, 2], 16, [1, 1], [0, 0], [0, 0], [1, 1], 1)
        self.convolution.check(x, _packed(weight, 1), None, None, *arguments, out_dim_order=_LAST, static=True)

    def test_wrong_arguments(self) -> None:
        last = torch.channels_last
        x, out = torch.ones(1, 8, 4, 4).to(memory_format=last), torch.ones(1, 20, 3, 3).to(memory_format=last)
        weight = _packed(torch.ones(20, 8, 2, 2), 1)
        lists = ([1, 1], [0, 0], [0, 0], [1, 1])
        self.convolution.check(x, weight, None, None, [2, 2], 20, *lists, 1, out_dim_order=_LAST, static=True)

        def check_rejected(*arguments: object, outs: Sequence[torch.Tensor] = (out,)) -> None:
            self.convolution.check_rejected(*arguments, outs=list(outs), out_dim_order=_LAST, static=True)

        for wrong in (torch.ones(20, 8, 2, 2), weight[:, :1].clone(), weight.flatten(1, 2), torch.ones(4, 20)):
            check_rejected(x, wrong, None, None, [2, 2], 20, *lists, 1)
        for kernel_size, channels, groups in (([2, 3], 20, 1), ([2, 2], 40, 1), ([2, 2], 20, 3), ([2, 2], 20, 0)):
            check_rejected(x, weight, None, None, kernel_size, channels, *lists, groups)
        for position, wrong_list in ((0, [0, 1]), (1, [0, -1]), (2, [-1, 0]), (3, [0, 1]), (0, [1]), (1, [1, 1, 1])):
            wrong_lists = [*lists[:position], wrong_list, *lists[position + 1 :]]
            check_rejected(x, weight, None, None, [2, 2], 20, *wrong_lists, 1)
        check_rejected(x[:, :, :1], weight, None, None, [2, 2], 20, *lists, 1)
        check_rejected(x[0], weight, None, None, [2, 2], 20, *lists, 1)
        check_rejected(x, weight, torch.ones(8), None, [2, 2], 20, *lists, 1)
        check_rejected(x, weight, None, torch.ones(1, 20, 1, 3), [2, 2], 20, *lists, 1)
        check_rejected(x, weight, None, None, [2, 2], 20, *lists, 1, outs=[torch.ones(1, 20, 3, 2)])
        for activation in (("relu",), ("clamp", math.nan, 1.0)):
            check_rejected(x, weight, None, None, [2, 2], 20, *lists, 1, *activation)
        volume = torch.ones(1, 8, 1, 4, 4).to(memory_format=torch.channels_last_3d)
        check_rejected(volume, weight, None, None, [2, 2], 20, *lists, 1)
        check_rejected(volume, weight, None, None, [1, 2, 2], 20, *lists, 1)
        check_rejected(x, weight, None, None, [1, 2, 2], 20, *([0, *one] for one in lists), 1)
        doubles = [tensor.double() for tensor in (x, weight, out)]
        check_rejected(*doubles[:2], None, None, [2, 2], 20, *lists, 1, outs=doubles[2:])


if __name__ == "__main__":
    absltest.main()
