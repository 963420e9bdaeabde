"""Tests of op_fused_convolution.cpp, against PyTorch's convolution, padding and activations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import torch
from absl.testing import absltest
from torch.nn import functional

from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

# The shapes of input and weight, and the groups: one to three spatial dimensions, depthwise, one kernel position, more
# channels than a tile.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    ((2, 4, 9), (6, 4, 3), 1),
    ((2, 4, 8, 9), (6, 2, 3, 2), 2),
    ((2, 4, 8, 9), (4, 1, 3, 3), 4),
    ((1, 3, 17, 5), (20, 3, 1, 1), 1),
    ((1, 2, 5, 4, 6), (3, 2, 2, 3, 2), 1),
)

_ACTIVATIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda x: x,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
}


def _reference(  # noqa: PLR0917  # The parameters of the operator.
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    end_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    activation: str = "none",
    minimum: float = 0.0,
    maximum: float = 0.0,
) -> torch.Tensor:
    """PyTorch's result in float64. The expected results of all dtypes are rounded from it."""
    if not input.is_floating_point() or input.dtype != weight.dtype:
        raise ValueError("expected input and weight of the same floating-point dtype")
    spatial = input.dim() - 2
    before, behind = ([*ends] * spatial if len(ends) == 1 else [*ends] for ends in (padding, end_padding))
    widths = [width for ends in zip(before[::-1], behind[::-1], strict=True) for width in ends]
    result = torch.ops.aten.convolution(
        functional.pad(input.double(), widths),
        weight.double(),
        None if bias is None else bias.double(),
        stride,
        [0],
        dilation,
        False,
        [0],
        groups,
    )
    result = result.clamp(minimum, maximum) if activation == "clamp" else _ACTIVATIONS[activation](result)
    return result.to(input.dtype)


class OpFusedConvolutionTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.convolution = self.op(
            "rules_executorch::fused_convolution.out",
            schema=SCHEMAS["rules_executorch::fused_convolution.out"],
            reference=_reference,
        )

    def test_padding(self) -> None:
        for (x_shape, weight_shape, groups), stride in itertools.product(_CASES, (1, 2, 3)):
            x = op_tester.make_tensor(x_shape, torch.float32, low=-1, high=1)
            weight = op_tester.make_tensor(weight_shape, torch.float32, low=-1, high=1)
            bias = op_tester.make_tensor(weight_shape[:1], torch.float32, low=-1, high=1)
            for before, behind, dilation in ((0, 1, 1), (2, 0, 1), (0, 0, 1), (1, 3, 2), (4, 4, 2)):
                arguments = ([stride], [before], [behind], [dilation], groups)
                self.convolution.check(x, weight, bias, *arguments, atol=1e-5)
        x, weight = torch.rand(1, 2, 9, 8), torch.rand(2, 2, 3, 2)
        self.convolution.check(x, weight, None, [2, 3], [1, 0], [0, 2], [1, 2], 1, atol=1e-5)

    def test_activations(self) -> None:
        for (x_shape, weight_shape, groups), dtype in itertools.product(_CASES, op_tester.FLOAT_DTYPES):
            x = op_tester.make_tensor(x_shape, dtype, low=-1, high=1)
            weight = op_tester.make_tensor(weight_shape, dtype, low=-1, high=1)
            bias = op_tester.make_tensor(weight_shape[:1], dtype, low=-1, high=1)
            arguments = (x, weight, bias, [1], [0], [1], [1], groups)
            atol = 1e-5 if dtype == torch.float32 else None
            for activation in _ACTIVATIONS:
                self.convolution.check(*arguments, activation, atol=atol)
            for bounds in ((0.0, math.inf), (0.0, 0.5), (-math.inf, 0.1), (0.5, -0.5)):
                self.convolution.check(*arguments, "clamp", *bounds, atol=atol)

    def test_dim_orders(self) -> None:
        orders = ((0, 1, 2, 3), (0, 2, 3, 1), (3, 1, 0, 2))
        ones = (((2, 1, 6, 5), (3, 1, 2, 2), 1), ((1, 6, 1, 1), (4, 3, 1, 1), 2), ((1, 4, 5, 1), (1, 4, 2, 1), 1))
        for x_shape, weight_shape, groups in (*_CASES[1:4], *ones):
            x, weight, bias = (
                op_tester.make_tensor(shape, torch.float32, low=-1, high=1)
                for shape in (x_shape, weight_shape, weight_shape[:1])
            )
            how = ([1], [1], [0], [1], groups, "clamp", 0.0, 0.5)
            declared_dim_orders.check(self.convolution, x, weight, bias, *how, atol=1e-5)
            for order, out_order in itertools.product(orders, orders):
                turned = op_tester.with_dim_order(x, order)
                self.convolution.check(turned, weight, None, *how, out_dim_order=out_order, static=True, atol=1e-5)

    def test_values_that_are_no_numbers(self) -> None:
        x, weight = torch.ones(1, 2, 4, 5), torch.ones(3, 2, 2, 2)
        x[0, 1, 2, 3] = math.nan
        x[0, 0, 0, 0] = math.inf
        for activation in ("clamp", "gelu", "silu"):
            self.convolution.check(x, weight, None, [1], [0], [1], [1], 1, activation, 0.0, 6.0)

    def test_wrong_arguments(self) -> None:
        x, weight, out = torch.ones(1, 2, 4, 4), torch.ones(3, 2, 2, 2), torch.ones(1, 3, 3, 3)
        self.convolution.check(x, weight, None, [1], [0], [0], [1], 1)
        for activation in (("relu",), ("clamp", math.nan, 1.0)):
            self.convolution.check_rejected(x, weight, None, [1], [0], [0], [1], 1, *activation, outs=[out])
        for lists in (
            ([1], [0], [0, 0], [1]),
            ([1], [0], [-1], [1]),
            ([1], [0, 0, 0], [0, 0, 0], [1]),
            ([1], [], [], [1]),
            ([0], [0], [0], [1]),
        ):
            self.convolution.check_rejected(x, weight, None, *lists, 1, outs=[out])
        self.convolution.check_rejected(x, weight, torch.ones(2), [1], [0], [0], [1], 1, outs=[out])
        self.convolution.check_rejected(x, torch.ones(3, 2, 9, 2), None, [1], [0], [4], [1], 1, outs=[out])
        integers = x.int()
        self.convolution.check_rejected(integers, weight.int(), None, [1], [0], [0], [1], 1, outs=[out.int()])


if __name__ == "__main__":
    absltest.main()
