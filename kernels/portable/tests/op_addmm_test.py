"""Tests of op_addmm.cpp: addmm.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

NUMBERS = (*op_tester.FLOAT_DTYPES, *op_tester.INT_DTYPES)

# Rows, inner dimension, columns.
SIZES = ((2, 3, 4), (1, 1, 1), (0, 3, 4), (2, 0, 4), (2, 3, 0), (1, 300, 17), (33, 64, 130))


class OpAddmmTest(op_tester.OpTest):
    def test_sizes(self) -> None:
        addmm = self.op("aten::addmm.out")
        for dtype, (m, k, n) in itertools.product(NUMBERS, SIZES):
            a = op_tester.make_tensor((m, k), dtype, low=0, high=3)
            b = op_tester.make_tensor((k, n), dtype, low=0, high=3)
            for shape in ((m, n), (n,), (1, n), (m, 1), ()):
                addmm.judge(op_tester.make_tensor(shape, dtype), a, b)

    def test_factors(self) -> None:
        addmm = self.op("aten::addmm.out")
        for dtype in NUMBERS:
            x = op_tester.make_tensor((5,), dtype, low=0)
            a = op_tester.make_tensor((4, 6), dtype, low=0, high=3)
            b = op_tester.make_tensor((6, 5), dtype, low=0, high=3)
            for beta, alpha in itertools.product((0, 1, -2, 1.5, True, False), repeat=2):
                # PyTorch rounds half-precision intermediate results. The kernel rounds only the final result.
                rounding = {torch.float16: 0.1, torch.bfloat16: 1.0}.get(dtype)
                addmm.judge(x, a, b, beta=beta, alpha=alpha, atol=rounding)

    def test_factors_that_do_not_fit(self) -> None:
        addmm = self.op("aten::addmm.out")
        for dtype, factor in itertools.product(NUMBERS, (1e30, -1e39, 1e300, float("inf"), 1 << 40, -(1 << 63))):
            x = torch.ones((1, 1), dtype=dtype)
            addmm.judge(x, x, x, beta=factor)
            addmm.judge(x, x, x, alpha=factor)

    def test_beta_of_zero_ignores_the_addend(self) -> None:
        addmm = self.op("aten::addmm.out")
        for dtype in op_tester.FLOAT_DTYPES:
            for value in (float("nan"), float("inf")):
                x = torch.full((2, 2), value, dtype=dtype)
                ones = torch.ones((2, 2), dtype=dtype)
                addmm.check(x, ones, ones, beta=0)
                addmm.check(x, ones, ones)

    def test_sums_of_nothing_ignore_alpha(self) -> None:
        addmm = self.op("aten::addmm.out")
        for alpha, beta in itertools.product((float("nan"), float("inf")), (0, 0.5)):
            addmm.check(torch.ones(10), torch.ones(5, 0), torch.ones(0, 10), alpha=alpha, beta=beta)

    def test_dim_orders(self) -> None:
        addmm = self.op("aten::addmm.out")
        for x_order, a_order, b_order, out_order in itertools.product(op_tester.dim_orders(2), repeat=4):
            x = op_tester.make_tensor((19, 35), torch.float32, dim_order=x_order)
            a = op_tester.make_tensor((19, 70), torch.float32, dim_order=a_order, low=0, high=3)
            b = op_tester.make_tensor((70, 35), torch.float32, dim_order=b_order, low=0, high=3)
            addmm.check(x, a, b, out_dim_order=out_order, static=True)

    def test_dtypes(self) -> None:
        addmm = self.op("aten::addmm.out")
        for dtype, other in itertools.product(op_tester.ALL_DTYPES, op_tester.ALL_DTYPES):
            one, two = torch.ones((2, 2), dtype=dtype), torch.ones((2, 2), dtype=other)
            addmm.judge(one, one, two)
            addmm.judge(one, two, one)
            addmm.judge(one, two, two)
            addmm.judge_out_dtype(one, one, one, out_dtype=other)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((2, 2), dtype=dtype)
            addmm.check_rejected(x, x, x, outs=[x])

    def test_wrong_shapes(self) -> None:
        addmm = self.op("aten::addmm.out")
        shapes = ((2, 3), (3, 2), (3,), (1, 3, 2), (1, 2), ())
        for x_shape, a_shape, b_shape in itertools.product(((2, 2), (0,), (3,), (1, 1, 2), (1, 3)), shapes, shapes):
            addmm.judge(torch.ones(x_shape), torch.ones(a_shape), torch.ones(b_shape))
        x = torch.ones(2, 2)
        addmm.check_rejected(x, x, x, outs=[torch.ones(2, 2, 1)])
        addmm.check_rejected(x, x, x, outs=[torch.ones(2, 3)], static=True)


if __name__ == "__main__":
    absltest.main()
