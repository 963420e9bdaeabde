"""Tests of op_rms_norm.cpp, against PyTorch's rms_norm."""

from __future__ import annotations

import itertools

import torch
from absl.testing import absltest

from kernels.optimized.tests import declared_dim_orders
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

# One element, a few elements, several blocks and a part of a block, several normalized dimensions, empty tensors.
_SHAPES = (((1,), 1), ((3, 1), 1), ((2, 3, 7), 1), ((2, 3, 7), 2), ((2, 3, 7), 3), ((4, 600), 1), ((2, 33, 768), 1))
_EMPTY = (((0, 4), 1), ((3, 0), 1))


def _reference(x: torch.Tensor, weight: torch.Tensor | None, dims: int, eps: float) -> torch.Tensor:
    """PyTorch's result in float64, rounded once."""
    if not x.is_floating_point() or dims < 1:
        raise ValueError("expected a floating-point input and at least one normalized dimension")
    if weight is not None and weight.dtype not in {x.dtype, torch.promote_types(x.dtype, torch.float32)}:
        raise ValueError("expected a weight of the input's dtype or of float32")
    factors = None if weight is None else weight.double()
    return torch.nn.functional.rms_norm(x.double(), x.shape[x.dim() - dims :], factors, eps).to(x.dtype)


class OpRmsNormTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.norm = self.op(
            "rules_executorch::rms_norm.out", schema=SCHEMAS["rules_executorch::rms_norm.out"], reference=_reference
        )

    def test_shapes(self) -> None:
        for dtype, (shape, dims) in itertools.product(op_tester.FLOAT_DTYPES, _SHAPES + _EMPTY):
            x = op_tester.make_tensor(shape, dtype, low=-3, high=3)
            weight = op_tester.make_tensor(shape[len(shape) - dims :], dtype, low=-2, high=2)
            for eps in (1e-6, 0.5):
                self.norm.check(x, weight, dims, eps)
                self.norm.check(x, None, dims, eps)
                self.norm.check(x, weight.to(torch.promote_types(dtype, torch.float32)), dims, eps)

    def test_is_pytorchs(self) -> None:
        """Compares with PyTorch, which computes half precision in float32, too, and rounds once."""
        for dtype in op_tester.FLOAT_DTYPES:
            x, weight = (op_tester.make_tensor(shape, dtype, low=-3, high=3) for shape in ((5, 300), (300,)))
            self.norm.judge_results([torch.nn.functional.rms_norm(x, (300,), weight, 1e-5)], x, weight, 1, 1e-5)

    def test_sums_are_of_floats(self) -> None:
        """The squares of these values are out of the range of half precision."""
        for dtype in (torch.float16, torch.bfloat16):
            for value in (1e-4, 300.0):
                x = torch.full((2, 640), value, dtype=dtype)
                self.norm.check(x, None, 1, 1e-12)

    def test_special_values(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            values = op_tester.special_values(dtype)
            # The squares of the largest values overflow in the kernel's type, but not in the reference's.
            values = values[~(values.abs() > 1e15)] if dtype != torch.float16 else values
            self.norm.check(values[:, None].contiguous(), None, 1, 1e-5)
            self.norm.check(torch.ones(2, len(values), dtype=dtype), values, 1, 1e-5)
            infinite = torch.tensor([[1.0, float("inf")], [float("nan"), 2.0], [0.0, 0.0]], dtype=dtype)
            self.norm.check(infinite, None, 1, 1e-5)
            self.norm.check(torch.zeros(1, 3, dtype=dtype), None, 1, 0.0)

    def test_dtypes(self) -> None:
        for dtype, other in itertools.product(op_tester.ALL_DTYPES, op_tester.ALL_DTYPES):
            self.norm.judge(torch.ones((2, 3), dtype=dtype), torch.ones(3, dtype=other), 1, 1e-5)
        for dtype in op_tester.ALL_DTYPES:
            if dtype != torch.float32:
                self.norm.check_rejected(torch.ones(2, 3), None, 1, 1e-5, outs=[torch.ones((2, 3), dtype=dtype)])

    def test_dim_orders(self) -> None:
        for shape, dims in (((2, 3, 4, 5), 2), ((3, 1, 8, 16), 1), ((3, 8, 1, 16), 2), ((1, 4, 1, 1), 3)):
            x, weight = (op_tester.make_tensor(sizes, torch.float32) for sizes in (shape, shape[-dims:]))
            declared_dim_orders.check(self.norm, x, weight, dims, 1e-5)

    def test_rejected(self) -> None:
        x, out = torch.ones(2, 3, 4), torch.ones(2, 3, 4)
        for weight in (torch.ones(3), torch.ones(1, 4), torch.ones(()), torch.ones(3, 4)):
            self.norm.check_rejected(x, weight, 1, 1e-5, outs=[out])
        self.norm.check_rejected(x, torch.ones(4), 2, 1e-5, outs=[out])
        for dims in (0, -1, 4):
            self.norm.check_rejected(x, None, dims, 1e-5, outs=[out])
        self.norm.check_rejected(torch.ones(()), None, 1, 1e-5, outs=[torch.ones(())])
        self.norm.check_rejected(x, None, 1, 1e-5, outs=[torch.ones(2, 3)], static=True)


if __name__ == "__main__":
    absltest.main()
