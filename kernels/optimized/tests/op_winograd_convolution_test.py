"""Tests of op_winograd_convolution.cpp, against PyTorch's convolution in float64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import torch
from absl.testing import absltest
from torch.nn import functional

from export.graph_passes import layouts
from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

# The number of columns of a panel of weights.
_COLUMNS = layouts.FLOAT_PANEL_COLUMNS
_LAST = (0, 2, 3, 1)
# As export/graph_passes/operators/winograd_convolution.py has them for the tolerance of tests.
_ERROR_GROWTH = {2: 1.67, 4: 4.78}
# The shape of the input and the output channels: images smaller than a tile; images with partial tiles at the ends;
# several blocks of tiles; fewer channels than a vector, and partial vectors; partial panels; blocks of tiles that start
# in one image and end in the next.
_CASES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((1, 16, 8, 8), 16),
    ((2, 24, 9, 7), 50),
    ((1, 3, 17, 19), 20),
    ((3, 7, 6, 5), 1),
    ((1, 64, 30, 46), 64),
    ((5, 40, 11, 13), 100),
    ((1, 300, 5, 6), 96),
    ((1, 20, 3, 3), 33),
)
# Padding before and after.
_PADDING = (((1, 1), (1, 1)), ((0, 0), (0, 0)), ((0, 1), (2, 0)), ((3, 2), (0, 5)))
_ACTIVATIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda x: x,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
}


def _packed(weight: torch.Tensor) -> torch.Tensor:
    """Packs a weight into panels, row by row."""
    filled = -(-len(weight) // _COLUMNS) * _COLUMNS
    rows = []
    for first in range(0, filled, _COLUMNS):
        panel = weight[first : first + _COLUMNS]
        for y, x, c in itertools.product(range(3), range(3), range(weight.shape[1])):
            rows.append(functional.pad(panel[:, c, y, x], (0, _COLUMNS - len(panel))))
    return torch.cat(rows).reshape(1, filled // _COLUMNS, -1, _COLUMNS)


def _unpacked(packed: torch.Tensor, out_channels: int, channels: int) -> torch.Tensor:
    panels = [panel.reshape(3, 3, channels, _COLUMNS).permute(3, 2, 0, 1) for panel in packed[0].double()]
    return torch.cat(panels)[:out_channels]


def _reference(  # noqa: PLR0917  # The parameters of the operator.
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    addend: torch.Tensor | None,
    out_channels: int,
    tile: int,
    padding: Sequence[int],
    end_padding: Sequence[int],
    activation: str = "none",
    minimum: float = 0.0,
    maximum: float = 0.0,
) -> torch.Tensor:
    """PyTorch's result in float64."""
    if {x.dtype for x in (input, weight, bias, addend) if x is not None} != {torch.float32}:
        raise ValueError("expected Float tensors")
    if tile not in {2, 4}:
        raise ValueError("expected tiles of 2 or 4 outputs")
    widths = zip(reversed(padding), reversed(end_padding), strict=True)
    padded = functional.pad(input.double(), [width for both in widths for width in both])
    unpacked = _unpacked(weight, out_channels, input.shape[1])
    convolve = functional.conv3d if input.dim() == 5 else functional.conv2d
    kernel = unpacked.unsqueeze(2) if input.dim() == 5 else unpacked
    result = convolve(padded, kernel, None if bias is None else bias.double())
    if addend is not None:
        result = result + addend.double()
    result = result.clamp(minimum, maximum) if activation == "clamp" else _ACTIVATIONS[activation](result)
    return result.to(input.dtype)


def _random(shape: Sequence[int], dim_order: Sequence[int] | None = None) -> torch.Tensor:
    return op_tester.make_tensor(tuple(shape), torch.float32, dim_order=dim_order, low=-1, high=1)


def _weight(out_channels: int, channels: int) -> torch.Tensor:
    """Weights that are scaled so that sums have about the magnitude of one input."""
    return _random((out_channels, channels, 3, 3)) / (9 * channels) ** 0.5


def _out_shape(x: torch.Tensor, out_channels: int, padding: Sequence[Sequence[int]]) -> list[int]:
    sizes = [size + before + behind - 2 for size, before, behind in zip(x.shape[2:], *padding, strict=True)]
    return [x.shape[0], out_channels, *sizes]


class OpWinogradConvolutionTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.convolution = self.op(
            "rules_executorch::winograd_convolution.out",
            schema=SCHEMAS["rules_executorch::winograd_convolution.out"],
            reference=_reference,
        )

    def test_sizes(self) -> None:
        for case, (padding_number, padding), (tile_number, tile) in itertools.product(
            _CASES, enumerate(_PADDING), enumerate((2, 4))
        ):
            x_shape, out_channels = case
            x, weight = _random(x_shape, _LAST), _weight(out_channels, x_shape[1])
            # Of each two paddings and tiles of a shape, one pair has a bias and an addend.
            has_addend = (padding_number + tile_number) % 2 == 1
            bias = _random((out_channels,)) if has_addend else None
            addend = _random(_out_shape(x, out_channels, padding), _LAST) if has_addend else None
            self.convolution.check(
                *(x, _packed(weight), bias, addend, out_channels, tile, *padding),
                out_dim_order=_LAST,
                static=True,
                atol=1e-4,
            )

    def test_slices_of_volumes(self) -> None:
        last = (0, 2, 3, 4, 1)
        for (x_shape, out_channels), depth, tile in itertools.product(_CASES[1:4], (1, 3), (2, 4)):
            x = _random((*x_shape[:2], depth, *x_shape[2:]), last)
            sizes = [x_shape[0], out_channels, depth, x_shape[2] + 1, x_shape[3]]
            self.convolution.check(
                *(x, _packed(_weight(out_channels, x_shape[1])), _random((out_channels,)), _random(sizes, last)),
                *(out_channels, tile, [0, 1, 1], [0, 2, 1]),
                out_dim_order=last,
                static=True,
                atol=1e-4,
            )

    def test_rounding(self) -> None:
        """Tests the errors of sums of 4,608 products. The sums have a standard deviation of 1."""
        torch.manual_seed(0)
        x, weight = torch.randn(1, 512, 16, 16), torch.randn(48, 512, 3, 3) / (9 * 512) ** 0.5
        expected = functional.conv2d(x.double(), weight.double(), padding=1)
        direct = functional.conv2d(x, weight, padding=1) - expected
        for tile, most in ((2, 1e-5), (4, 3e-5)):
            last = x.to(memory_format=torch.channels_last)
            arguments = (last, _packed(weight), None, None, 48, tile, [1, 1], [1, 1])
            (out,) = self.convolution.run(*arguments, outs=[expected.float()], out_dim_order=_LAST, static=True)
            self.assertLess((out - expected).abs().max().item(), most)
            growth = ((out - expected).norm() / direct.norm()).item()
            self.assertLess(growth, 1.5 * _ERROR_GROWTH[tile])

    def test_activations(self) -> None:
        for (x_shape, out_channels), tile in itertools.product(_CASES[:3], (2, 4)):
            x, weight = _random(x_shape, _LAST), _packed(_weight(out_channels, x_shape[1]))
            addend = _random((x_shape[0], out_channels, *x_shape[2:]), _LAST)
            arguments = (x, weight, _random((out_channels,)), addend, out_channels, tile, [1, 1], [1, 1])
            for activation in _ACTIVATIONS:
                self.convolution.check(*arguments, activation, out_dim_order=_LAST, static=True, atol=1e-4)
            for bounds in ((0.0, math.inf), (0.0, 0.5), (-math.inf, 0.1), (0.5, -0.5)):
                self.convolution.check(*arguments, "clamp", *bounds, out_dim_order=_LAST, static=True, atol=1e-4)

    def test_dim_orders(self) -> None:
        for x_shape, out_channels in (((2, 3, 4, 5), 20), ((2, 1, 6, 5), 3), ((1, 20, 1, 1), 2), ((1, 8, 5, 1), 1)):
            x, weight = _random(x_shape), _packed(_weight(out_channels, x_shape[1]))
            bias, addend = _random((out_channels,)), _random((x_shape[0], out_channels, *x_shape[2:]))
            arguments = (x, weight, bias, addend, out_channels, 2, [1, 1], [1, 1])
            declared_dim_orders.check(self.convolution, *arguments, atol=1e-4)

    def test_no_images(self) -> None:
        x = torch.ones(0, 16, 4, 5).to(memory_format=torch.channels_last)
        weight = _packed(torch.ones(16, 16, 3, 3))
        self.convolution.check(x, weight, None, None, 16, 4, [0, 0], [0, 0], out_dim_order=_LAST, static=True)

    def test_wrong_arguments(self) -> None:
        last = torch.channels_last
        x, out = torch.ones(1, 8, 4, 4).to(memory_format=last), torch.ones(1, 20, 4, 4).to(memory_format=last)
        weight = _packed(torch.ones(20, 8, 3, 3))
        lists = ([1, 1], [1, 1])
        self.convolution.check(x, weight, None, None, 20, 4, *lists, out_dim_order=_LAST, static=True, atol=1e-4)

        def check_rejected(*arguments: object, outs: Sequence[torch.Tensor] = (out,)) -> None:
            self.convolution.check_rejected(*arguments, outs=list(outs), out_dim_order=_LAST, static=True)

        for wrong in (
            torch.ones(20, 8, 3, 3),
            weight[:, :1].clone(),
            weight[:, :, :64].clone(),
            weight[0],
            weight.repeat(2, 1, 1, 1),
        ):
            check_rejected(x, wrong, None, None, 20, 4, *lists)
        volume = x.unsqueeze(2).to(memory_format=torch.channels_last_3d)
        for wrong_lists in (lists, ([1, 1, 1], [0, 1, 1]), ([0, 1, 1], [1, 1, 1])):
            check_rejected(volume, weight, None, None, 20, 4, *wrong_lists)
        for tile in (0, 3, 6, -2):
            check_rejected(x, weight, None, None, 20, tile, *lists)
        check_rejected(x, weight, None, None, 40, 4, *lists)
        check_rejected(x, weight, None, None, 0, 4, *lists)
        for wrong_lists in (([1], [1, 1]), ([1, 1], [1, 1, 1]), ([1, -1], [1, 1]), ([-1, 0], [0, 0])):
            check_rejected(x, weight, None, None, 20, 4, *wrong_lists)
        check_rejected(x[:, :, :1], weight, None, None, 20, 4, [0, 0], [0, 0])
        check_rejected(x[0], weight, None, None, 20, 4, *lists)
        check_rejected(x, weight, torch.ones(8), None, 20, 4, *lists)
        check_rejected(x, weight, None, torch.ones(1, 20, 1, 4), 20, 4, *lists)
        check_rejected(x, weight, None, None, 20, 4, *lists, outs=[torch.ones(1, 20, 4, 3)])
        for activation in (("relu",), ("clamp", math.nan, 1.0)):
            check_rejected(x, weight, None, None, 20, 4, *lists, *activation)
        doubles = [tensor.double() for tensor in (x, weight, out)]
        check_rejected(*doubles[:2], None, None, 20, 4, *lists, outs=doubles[2:])


if __name__ == "__main__":
    absltest.main()
