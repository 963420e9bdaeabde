"""Tests of op_weight_only_linear.cpp, against PyTorch's linear layer in float64."""

from __future__ import annotations

import itertools

import torch
from absl.testing import absltest

from export.graph_passes import layouts
from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester


def _unpacked(weight: torch.Tensor) -> torch.Tensor:
    """Unpacks 4-bit weights. The first elements of a block are the low halves of its bytes. All have an offset of 8."""
    blocks = weight.reshape(weight.shape[0], -1, layouts.QUANTIZED_ROW_BLOCK_BYTES).to(torch.int16)
    return torch.cat([blocks % 16, blocks // 16], dim=2).reshape(weight.shape[0], -1) - 8


def _reference(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    integers = _unpacked(weight) if weight.dtype == torch.uint8 else weight
    group = integers.shape[1] // scale.shape[1]
    values = integers.double() * scale.double().repeat_interleave(group, 1)
    return torch.nn.functional.linear(x.double(), values, None if bias is None else bias.double()).to(x.dtype)


class OpWeightOnlyLinearTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.linear = self.op(
            "rules_executorch::weight_only_linear.out",
            schema=SCHEMAS["rules_executorch::weight_only_linear.out"],
            reference=_reference,
        )

    def test_shapes(self) -> None:
        generator = torch.Generator().manual_seed(0)
        # Features and groups. With one group and 8-bit weights, the features need not be whole blocks.
        for (k, groups), rows, columns in itertools.product(
            ((32, 1), (96, 3), (128, 2), (1024, 8), (256, 1)), (1, 3, 4, 6, 0), (1, 4, 7, 33)
        ):
            x = torch.randn(rows, k, generator=generator)
            scale, bias = torch.rand(columns, groups, generator=generator), torch.randn(columns, generator=generator)
            packed = torch.randint(0, 256, (columns, k // 2), generator=generator).to(torch.uint8)
            self.linear.check(x, packed, scale, bias, rtol=1e-4, atol=1e-3)
            wide = torch.randint(-128, 128, (columns, k), generator=generator).to(torch.int8)
            self.linear.check(x, wide, scale, None, rtol=1e-4, atol=1e-2)
        for k in (1, 15, 17, 50):
            x = torch.randn(2, 1, k, generator=generator)
            wide = torch.randint(-128, 128, (5, k), generator=generator).to(torch.int8)
            self.linear.check(x, wide, torch.rand(5, 1, generator=generator), None, rtol=1e-4, atol=1e-3)

    def test_dim_orders(self) -> None:
        generator = torch.Generator().manual_seed(0)
        for shape, columns in (((2, 3, 4, 32), 5), ((3, 1, 8, 32), 1), ((1, 8, 1, 32), 5)):
            x, scale, bias = (torch.randn(sizes, generator=generator) for sizes in (shape, (columns, 1), (columns,)))
            weight = torch.randint(-128, 128, (columns, 32), generator=generator).to(torch.int8)
            declared_dim_orders.check(self.linear, x, weight, scale, bias, rtol=1e-4, atol=1e-2)

    def test_half_precision(self) -> None:
        generator = torch.Generator().manual_seed(0)
        # More columns than a block of results; row numbers with a remainder.
        for dtype, (k, groups), rows, columns in itertools.product(
            (torch.float16, torch.bfloat16), ((32, 1), (96, 3), (256, 1)), (1, 4, 6), (1, 5, 300)
        ):
            x = torch.randn(rows, k, generator=generator).to(dtype)
            scale = torch.rand(columns, groups, generator=generator) / 128
            bias = torch.randn(columns, generator=generator).to(dtype)
            tolerance = torch.finfo(dtype).eps
            packed = torch.randint(0, 256, (columns, k // 2), generator=generator).to(torch.uint8)
            self.linear.check(x, packed, scale, bias, rtol=tolerance, atol=1e-5)
            wide = torch.randint(-128, 128, (columns, k), generator=generator).to(torch.int8)
            self.linear.check(x, wide, scale, None, rtol=tolerance, atol=1e-4)

    def test_every_weight(self) -> None:
        x = torch.eye(32)
        packed = torch.arange(256, dtype=torch.int16).to(torch.uint8).reshape(16, 16)
        self.linear.check(x, packed, torch.ones(16, 1), None, rtol=0, atol=0)
        wide = torch.arange(256, dtype=torch.int16).to(torch.int8).reshape(8, 32)
        self.linear.check(x, wide, torch.ones(8, 1), None, rtol=0, atol=0)

    def test_rejected(self) -> None:
        x, weight, scale, bias = torch.ones(2, 64), torch.ones(3, 64, dtype=torch.int8), torch.ones(3, 2), torch.ones(3)
        packed = torch.ones(3, 32, dtype=torch.uint8)
        out = torch.ones(2, 3)
        self.linear.check(x, weight, scale, bias)
        self.linear.check(x, packed, scale, bias)
        for wrong in (
            (torch.ones(2, 63), weight, scale, bias),
            (x, torch.ones(3, 32, dtype=torch.int8), scale, bias),
            (x, torch.ones(3, 64, dtype=torch.uint8), scale, bias),
            (x, weight, torch.ones(3, 3), bias),
            (x, weight, torch.ones(4, 2), bias),
            (x, weight, torch.ones(3), bias),
            (x, packed, torch.ones(3, 4), bias),
            (x, weight, torch.ones(3, 8), bias),
            (x, weight, scale, torch.ones(2)),
            (torch.tensor(1.0), weight, scale, bias),
        ):
            self.linear.check_rejected(*wrong, outs=[out])
        self.linear.check_rejected(x.double(), weight, scale, bias.double(), outs=[out.double()])
        halves = (x.half(), weight, scale, bias.half())
        self.linear.check(*halves)
        self.linear.check_rejected(*halves[:2], scale.half(), halves[3], outs=[out.half()])
        self.linear.check_rejected(*halves[:3], bias, outs=[out.half()])
        self.linear.check_rejected(*halves, outs=[out.bfloat16()])
        for dtype in op_tester.ALL_DTYPES:
            if dtype != torch.float32:
                self.linear.check_rejected(x.to(dtype), weight, scale, bias, outs=[out])
                self.linear.check_rejected(x, weight, scale.to(dtype), bias, outs=[out])
                self.linear.check_rejected(x, weight, scale, bias.to(dtype), outs=[out])
                self.linear.check_rejected(x, weight, scale, bias, outs=[out.to(dtype)])
            if dtype not in (torch.int8, torch.uint8):
                self.linear.check_rejected(x, weight.to(dtype), scale, bias, outs=[out])


if __name__ == "__main__":
    absltest.main()
