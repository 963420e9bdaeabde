"""Tests of op_dynamic_linear.cpp, against torchao's formulas in PyTorch, with products in float64."""

from __future__ import annotations

import itertools
import random

import torch
from absl.testing import absltest

from export.graph_passes import layouts
from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

_COLUMNS, _DEPTH = layouts.BYTE_PANEL_COLUMNS, layouts.BYTE_PANEL_DEPTH
_MULTIPLE = layouts.BYTE_PANEL_ROW_MULTIPLE
_EPS = 1.1920928955078125e-07


def _packed(weight: torch.Tensor, bits: int) -> torch.Tensor:
    """Packs a weight into panels of output features, element by element. A byte has two elements of 4 bits."""
    features, inputs = weight.shape
    panels = torch.zeros((-(-features // _COLUMNS), -(-inputs // _MULTIPLE) * 2, _COLUMNS, _DEPTH), dtype=torch.int8)
    for i, k in itertools.product(range(features), range(inputs)):
        panels[i // _COLUMNS, k // _DEPTH, i % _COLUMNS, k % _DEPTH] = weight[i, k]
    if bits == 8:
        return panels
    halves = panels.to(torch.int16) % 16
    return (halves[:, 0::2] + 16 * halves[:, 1::2]).to(torch.uint8)


def _unpacked(panels: torch.Tensor, features: int, inputs: int) -> torch.Tensor:
    if panels.dtype == torch.uint8:
        halves = torch.stack([panels % 16, panels // 16], 2).flatten(1, 2).to(torch.int16)
        panels = torch.where(halves > 7, halves - 16, halves)
    return panels.transpose(1, 2).flatten(2).flatten(0, 1)[:features, :inputs]


def _of_panels(scale: torch.Tensor) -> torch.Tensor:
    """Scales of (features, groups) as (panels, groups, features of a panel)."""
    filled = torch.zeros((-(-scale.shape[0] // _COLUMNS) * _COLUMNS, scale.shape[1]))
    filled[: scale.shape[0]] = scale
    return filled.unflatten(0, (-1, _COLUMNS)).transpose(1, 2).contiguous()


def _reference(  # noqa: PLR0917  # The parameters of the operator.
    x: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    bias: torch.Tensor | None,
    is_symmetric: bool,
    eps: float,
) -> torch.Tensor:
    dtype, x = x.dtype, x.float()
    low, high = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
    scales = torch.maximum(-low, high) / 127.5 if is_symmetric else (high - low) / 255.0
    scales = scales.clamp(min=torch.tensor(eps).item())
    zeros = torch.zeros_like(low) if is_symmetric else (-128 - torch.round(low / scales)).clamp(-128, 127)
    quantized = (torch.round(x * (1.0 / scales)) + zeros).clamp(-128, 127)
    integers = _unpacked(weight, len(offset), x.shape[-1]).double()
    groups = scale.transpose(1, 2).flatten(0, 1)[: len(offset)].double()
    values = integers * groups.repeat_interleave(integers.shape[1] // groups.shape[1], 1)
    floats = (quantized - zeros).double() * scales.double()
    return torch.nn.functional.linear(floats, values, None if bias is None else bias.double()).to(dtype)


def _layer(
    bits: int, features: int, inputs: int, groups: int, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Weights, scales and offsets."""
    generator = torch.Generator().manual_seed(seed)
    limit = 2 ** (bits - 1)
    weight = torch.randint(-limit, limit, (features, inputs), generator=generator).to(torch.int8)
    scale = torch.rand((features, groups), generator=generator) / limit
    offset = (weight.unflatten(1, (groups, -1)).sum(2) * scale.double()).sum(1).float()
    return _packed(weight, bits), _of_panels(scale), offset


class OpDynamicLinearTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.linear = self.op(
            "rules_executorch::dynamic_linear.out",
            schema=SCHEMAS["rules_executorch::dynamic_linear.out"],
            reference=_reference,
        )

    def test_shapes(self) -> None:
        # Whole and partial panels, tiles and blocks of rows; groups; padded rows.
        for bits, (features, inputs, groups), rows in itertools.product(
            (4, 8),
            ((1, 8, 1), (16, 64, 2), (70, 96, 3), (130, 256, 1), (33, 50, 1), (5, 3, 1)),
            ((1,), (), (2, 3), (4,), (67,), (0,)),
        ):
            x = op_tester.make_tensor((*rows, inputs), torch.float32, low=-2, high=5)
            layer = _layer(bits, features, inputs, groups)
            bias = op_tester.make_tensor((features,), torch.float32, low=-1, high=1)
            for is_symmetric in (True, False):
                self.linear.check(x, *layer, bias, is_symmetric, _EPS, rtol=1e-4, atol=2e-4)
                self.linear.check(x, *layer, None, is_symmetric, _EPS, rtol=1e-4, atol=2e-4)

    def test_dim_orders(self) -> None:
        for shape, features, bits in (((2, 3, 4, 32), 20, 4), ((3, 1, 8, 32), 1, 8), ((1, 8, 1, 16), 20, 8)):
            x = op_tester.make_tensor(shape, torch.float32, low=-2, high=5)
            bias = op_tester.make_tensor((features,), torch.float32, low=-1, high=1)
            layer = _layer(bits, features, shape[-1], 1)
            declared_dim_orders.check(self.linear, x, *layer, bias, False, _EPS, rtol=1e-4, atol=2e-4)

    def test_half_precision(self) -> None:
        # Rows with more elements than a block. All rows are quantized as floats and rounded once.
        for dtype, bits, (features, inputs, groups), rows in itertools.product(
            (torch.float16, torch.bfloat16), (4, 8), ((1, 8, 1), (70, 96, 3), (33, 50, 1), (20, 520, 1)), (1, 6)
        ):
            x = op_tester.make_tensor((rows, inputs), dtype, low=-2, high=5)
            layer = _layer(bits, features, inputs, groups)
            bias = op_tester.make_tensor((features,), dtype, low=-1, high=1)
            tolerance = torch.finfo(dtype).eps
            for is_symmetric in (True, False):
                for biases in (bias, bias.float(), None):
                    self.linear.check(x, *layer, biases, is_symmetric, _EPS, rtol=tolerance, atol=5e-4)

    def test_every_weight(self) -> None:
        for bits in (4, 8):
            limit = 2 ** (bits - 1)
            weight = torch.arange(-limit, limit).to(torch.int8).reshape(-1, 8)
            features = len(weight)
            layer = (_packed(weight, bits), _of_panels(torch.ones(features, 1)), weight.sum(1).float())
            # Each row selects one weight of each feature, times 127.5 * 2 / 255.
            self.linear.check(torch.eye(8) * 127.5, *layer, None, True, _EPS, rtol=1e-6)

    def test_extreme_sums(self) -> None:
        """Sums of the largest and of the smallest products, which need more than 16 bits."""
        for bits, sign in itertools.product((4, 8), (1, -1)):
            weight = torch.full((20, 264), -(2 ** (bits - 1)), dtype=torch.int8)
            layer = (_packed(weight, bits), _of_panels(torch.ones(20, 1)), weight.sum(1).float())
            for is_symmetric in (True, False):
                self.linear.check(torch.full((5, 264), 127.5 * sign), *layer, None, is_symmetric, _EPS, rtol=1e-6)

    def test_parameters_of_rows(self) -> None:
        """Rows with only zeros, one sign, one value, tiny and huge values."""
        layer = _layer(8, 20, 16, 2)
        values = op_tester.make_tensor((16,), torch.float32, low=0.5, high=3)
        rows = [values * 0, values, -values, values * 0 + 3, values * 1e-30, values * 1e30, values - 2]
        for is_symmetric, eps in itertools.product((True, False), (_EPS, 1.1754943508222875e-38, 0.5)):
            for row in rows:
                # The error of an offset is proportional to the scale of the row.
                tolerance = 1e-5 * max(float(row.abs().max()), 127.5 * eps)
                self.linear.check(row[None], *layer, None, is_symmetric, eps, rtol=1e-4, atol=tolerance)

    def test_rounds_to_even(self) -> None:
        x = torch.tensor([[127.5, -127.5, 0.5, 1.5, 2.5, -0.5, -1.5, 126.5]])
        layer = _layer(8, 8, 8, 1)
        self.linear.check(x, *layer, None, True, _EPS, rtol=1e-5, atol=1e-4)

    def test_samples(self) -> None:
        for seed in range(60):
            draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
            groups = draw.choice((1, 1, 2, 3))
            inputs = groups * draw.randint(1, 20) * 8 if groups > 1 else draw.randint(1, 200)
            layer = _layer(draw.choice((4, 8)), draw.randint(1, 100), inputs, groups, seed)
            x = torch.randn((draw.randint(1, 12), inputs), generator=generator) * draw.uniform(0.01, 100)
            tolerance = 2e-5 * float(x.abs().max()) * inputs**0.5
            self.linear.check(x, *layer, None, draw.choice((True, False)), _EPS, rtol=1e-4, atol=tolerance)

    def test_rejected(self) -> None:
        x, out = torch.ones(2, 64), torch.ones(2, 20)
        weight, scale, offset = _layer(8, 20, 64, 2)
        bias = torch.ones(20)
        self.linear.check(x, weight, scale, offset, bias, True, _EPS, atol=1e-4)
        halves = _layer(4, 20, 64, 2)[0]
        for wrong in (
            (torch.ones(2, 72), weight, scale, offset, bias),
            (torch.tensor(1.0), weight, scale, offset, bias),
            (torch.ones(2, 0), weight, scale, offset, bias),
            (x, weight[:1].contiguous(), scale, offset, bias),
            (x, weight.flatten(1, 2), scale, offset, bias),
            (x, weight.to(torch.uint8), scale, offset, bias),
            (x, halves.to(torch.int8), scale, offset, bias),
            (x, weight, torch.ones(2, 3, _COLUMNS), offset, bias),
            (x, weight, torch.ones(2, 16, _COLUMNS), offset, bias),
            (x, weight, torch.ones(2, 0, _COLUMNS), offset, bias),
            (x, weight, torch.ones(1, 2, _COLUMNS), offset, bias),
            (x, weight, torch.ones(20, 2), offset, bias),
            (x, weight, scale, torch.ones(40), bias),
            (x, weight, scale, torch.ones(20, 1), bias),
            (x, weight, scale, offset, torch.ones(19)),
            (x, weight, scale, offset, torch.ones(1, 20)),
        ):
            self.linear.check_rejected(*wrong, True, _EPS, outs=[out])
        for eps in (0.0, -1.0, float("nan")):
            self.linear.check_rejected(x, weight, scale, offset, bias, True, eps, outs=[out])
        doubles = (x.double(), weight, scale, offset, bias)
        self.linear.check_rejected(*doubles, True, _EPS, outs=[out.double()])
        other_bias = (x.half(), weight, scale, offset, bias.bfloat16())
        self.linear.check_rejected(*other_bias, True, _EPS, outs=[out.half()])
        for dtype in op_tester.ALL_DTYPES:
            if dtype != torch.float32:
                self.linear.check_rejected(x.to(dtype), weight, scale, offset, bias, True, _EPS, outs=[out])
                self.linear.check_rejected(x, weight, scale.to(dtype), offset, bias, True, _EPS, outs=[out])
                self.linear.check_rejected(x, weight, scale, offset.to(dtype), bias, True, _EPS, outs=[out])
                self.linear.check_rejected(x, weight, scale, offset, bias.to(dtype), True, _EPS, outs=[out])
                self.linear.check_rejected(x, weight, scale, offset, bias, True, _EPS, outs=[out.to(dtype)])
            if dtype not in (torch.int8, torch.uint8):
                self.linear.check_rejected(x, weight.to(dtype), scale, offset, bias, True, _EPS, outs=[out])


if __name__ == "__main__":
    absltest.main()
