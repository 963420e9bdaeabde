"""Tests of op_packed_linear.cpp: linear layers with packed weights, against PyTorch's linear and activations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping

import torch
from absl.testing import absltest
from torch.nn import functional

from export.graph_passes import layouts
from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

# Leading sizes, input features, output features: one row, few rows of many features, tiles of each height, more rows
# than are multiplied by a panel at a time, several blocks of input features, full and partial panels, empty tensors.
_SIZES = (
    ((1,), 1, 1),
    ((2,), 3, 48),
    ((), 300, 49),
    ((5,), 800, 50),
    ((3, 5), 7, 96),
    ((33,), 64, 130),
    ((1030,), 9, 50),
    ((2, 1, 40), 600, 47),
    ((0,), 3, 4),
    ((2,), 0, 50),
    ((2,), 3, 0),
)
_COLUMNS = layouts.FLOAT_PANEL_COLUMNS
_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
# The tolerances. The kernel adds products in another order. In half precision, sums are computed in float32 and rounded
# once.
_TOLERANCES = {
    torch.float32: {"atol": 1e-4},
    torch.float64: {"atol": 1e-4},
    torch.float16: {"rtol": 2e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 1e-2, "atol": 1e-2},
}

_ACTIVATIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "none": lambda x: x,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "mish": functional.mish,
    "sigmoid": torch.sigmoid,
    "silu": functional.silu,
}


def _packed(weight: torch.Tensor) -> torch.Tensor:
    """Packs a weight into panels, element by element."""
    features, inputs = weight.shape
    if weight.dtype == torch.bfloat16:
        pairs = torch.zeros((math.ceil(features / _COLUMNS), inputs // 2, _COLUMNS, 2), dtype=weight.dtype)
        for feature, i in itertools.product(range(features), range(2)):
            pairs[feature // _COLUMNS, :, feature % _COLUMNS, i] = weight[feature, i::2]
        return pairs
    panels = torch.zeros((math.ceil(features / _COLUMNS), inputs, _COLUMNS), dtype=weight.dtype)
    for feature in range(features):
        panels[feature // _COLUMNS, :, feature % _COLUMNS] = weight[feature]
    return panels


def _reference(  # noqa: PLR0917  # The parameters of the operator.
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    out_features: int,
    activation: str = "none",
    minimum: float = 0.0,
    maximum: float = 0.0,
) -> torch.Tensor:
    """PyTorch's result in float64."""
    dtypes = {x.dtype for x in (input, weight, bias) if x is not None}
    if len(dtypes) != 1 or input.dtype not in _DTYPES or (input.dtype == torch.bfloat16) != (weight.dim() == 4):
        raise ValueError("expected tensors of the same floating-point dtype, and pairs in BFloat16 weights")
    columns = [weight[i // _COLUMNS, :, i % _COLUMNS].flatten() for i in range(out_features)]
    unpacked = torch.stack(columns or [weight.new_zeros(input.shape[-1])]).double()
    result = functional.linear(input.double(), unpacked[:out_features], None if bias is None else bias.double())
    if activation == "clamp":
        return result.clamp(minimum, maximum).to(input.dtype)
    return _ACTIVATIONS[activation](result).to(input.dtype)


class OpPackedLinearTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.linear = self.op(
            "rules_executorch::packed_linear.out",
            schema=SCHEMAS["rules_executorch::packed_linear.out"],
            reference=_reference,
        )

    def test_sizes(self) -> None:
        for dtype, (rows, features, n) in itertools.product(_DTYPES, _SIZES):
            k = features + features % 2 if dtype == torch.bfloat16 else features
            x = op_tester.make_tensor((*rows, k), dtype, low=-1, high=1)
            weight = _packed(op_tester.make_tensor((n, k), dtype, low=-1, high=1))
            self.linear.check(x, weight, None, n, **_TOLERANCES[dtype])
            self.linear.check(x, weight, op_tester.make_tensor((n,), dtype, low=-1, high=1), n, **_TOLERANCES[dtype])

    def test_activations(self) -> None:
        for dtype, activation, n in itertools.product(_DTYPES, _ACTIVATIONS, (5, 100)):
            x = op_tester.make_tensor((17, 30), dtype, low=-3, high=3)
            weight = _packed(op_tester.make_tensor((n, 30), dtype, low=-1, high=1))
            bias = op_tester.make_tensor((n,), dtype, low=-1, high=1)
            self.linear.check(x, weight, bias, n, activation, **_TOLERANCES[dtype])
        weight = _packed(op_tester.make_tensor((50, 30), torch.float32, low=-1, high=1))
        x = op_tester.make_tensor((17, 30), torch.float32, low=-3, high=3)
        for bounds in ((0.0, math.inf), (0.0, 6.0), (-math.inf, 1.0), (-1.0, 1.0), (2.0, 1.0)):
            self.linear.check(x, weight, None, 50, "clamp", *bounds, atol=1e-5)
        for wrong in (("relu",), ("",), ("clamp", math.nan, 1.0), ("clamp", 0.0, math.nan)):
            self.linear.check_rejected(x, weight, None, 50, *wrong, outs=[torch.ones(17, 50)])

    def test_special_values(self) -> None:
        for dtype, activation in itertools.product(_DTYPES, _ACTIVATIONS):
            values = op_tester.special_values(dtype)
            # The sum of each column is one value plus zeros.
            weight = _packed(torch.stack([values, torch.zeros_like(values)], 1))
            x = torch.tensor([[1, 0]] * 3, dtype=dtype)
            self.linear.check(x, weight, None, len(values), activation, **_TOLERANCES[dtype])
            self.linear.check(x, weight, None, len(values), "clamp", -1.0, 1.0)

    def test_dim_orders(self) -> None:
        for dtype, features in itertools.product((torch.float32, torch.float16, torch.bfloat16), (35, 1)):
            weight = _packed(op_tester.make_tensor((features, 70), dtype, low=0, high=3))
            bias = torch.arange(features).to(dtype)
            for shape in ((19, 70), (3, 4, 70), (2, 3, 4, 70), (3, 1, 8, 70), (1, 8, 1, 70)):
                x = op_tester.make_tensor(shape, dtype, low=0, high=3)
                declared_dim_orders.check(self.linear, x, weight, bias, features, **_TOLERANCES[dtype])

    def test_sums_are_of_floats(self) -> None:
        """Sums in half precision would stop growing at 4096 or below, because 4096 + 1 rounds to 4096."""
        for dtype in (torch.float16, torch.bfloat16):
            x = torch.ones((5, 4100), dtype=dtype)
            self.linear.check(x, _packed(torch.ones((48, 4100), dtype=dtype)), None, 48, rtol=4e-3)

    def test_dtypes(self) -> None:
        for dtype, other in itertools.product(op_tester.ALL_DTYPES, op_tester.ALL_DTYPES):
            x, weight = torch.ones((2, 2), dtype=dtype), torch.ones((1, 2, _COLUMNS), dtype=other)
            self.linear.judge(x, weight, None, _COLUMNS)
            self.linear.judge(x, weight.to(dtype), torch.ones(_COLUMNS, dtype=other), _COLUMNS)
            self.linear.judge(x, torch.ones((1, 1, _COLUMNS, 2), dtype=other), None, _COLUMNS)

    def test_wrong_shapes(self) -> None:
        count = _COLUMNS + 2
        x, weight, out = torch.ones(2, 3), torch.ones(2, 3, _COLUMNS), torch.ones(2, count)
        self.linear.check(x, weight, None, count)
        for wrong in (
            torch.ones(count, 3),
            torch.ones(2, 3, 8),
            torch.ones(2, 4, _COLUMNS),
            torch.ones(1, 3, _COLUMNS),
        ):
            self.linear.check_rejected(x, wrong, None, count, outs=[out])
        for features in (_COLUMNS, 2 * _COLUMNS + 1, -1):
            self.linear.check_rejected(x, weight, None, features, outs=[out])
        for bias in (torch.ones(1), torch.ones(2 * _COLUMNS), torch.ones(1, count), torch.ones(())):
            self.linear.check_rejected(x, weight, bias, count, outs=[out])
        pairs = torch.ones(2, 2, _COLUMNS, 2, dtype=torch.bfloat16)
        for wrong in (pairs.float(), pairs[..., :1].contiguous(), pairs.flatten(2), pairs.reshape(2, 2, 2, _COLUMNS)):
            x_of_dtype, out_of_dtype = torch.ones((2, 4), dtype=wrong.dtype), torch.ones((2, count), dtype=wrong.dtype)
            self.linear.check_rejected(x_of_dtype, wrong, None, count, outs=[out_of_dtype])
        self.linear.check(torch.ones((2, 4), dtype=torch.bfloat16), pairs, None, count)
        self.linear.check_rejected(torch.ones(()), weight, None, count, outs=[out])
        self.linear.check_rejected(x, weight, None, count, outs=[torch.ones(2, _COLUMNS)], static=True)


if __name__ == "__main__":
    absltest.main()
