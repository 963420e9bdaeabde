"""Tests of op_mm.cpp: mm.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

NUMBERS = (*op_tester.FLOAT_DTYPES, *op_tester.INT_DTYPES, *op_tester.COMPLEX_DTYPES)

# Rows, inner dimension, columns: empty tensors, one element, full and partial blocks of the loops.
SIZES = ((2, 3, 4), (1, 1, 1), (0, 3, 4), (2, 0, 4), (2, 3, 0), (1, 300, 17), (70, 45, 1), (33, 64, 130), (7, 5, 300))


class OpMmTest(op_tester.OpTest):
    def test_sizes(self) -> None:
        mm = self.op("aten::mm.out")
        for dtype, (m, k, n) in itertools.product(NUMBERS, SIZES):
            a = op_tester.make_tensor((m, k), dtype, low=0, high=3)
            b = op_tester.make_tensor((k, n), dtype, low=0, high=3)
            mm.judge(a, b)

    def test_dim_orders(self) -> None:
        mm = self.op("aten::mm.out")
        orders = op_tester.dim_orders(2)
        for dtype, a_order, b_order, out_order in itertools.product(NUMBERS, orders, orders, orders):
            a = op_tester.make_tensor((19, 70), dtype, dim_order=a_order, low=0, high=3)
            b = op_tester.make_tensor((70, 35), dtype, dim_order=b_order, low=0, high=3)
            mm.judge(a, b, out_dim_order=out_order, static=True)

    def test_integers_wrap_around(self) -> None:
        mm = self.op("aten::mm.out")
        for dtype in op_tester.INT_DTYPES:
            info = torch.iinfo(dtype)
            a = torch.tensor([[info.max, 3, info.min], [2, info.max, 5]], dtype=dtype)
            mm.check(a, a.t().contiguous())

    def test_special_values(self) -> None:
        mm = self.op("aten::mm.out")
        for dtype in op_tester.FLOAT_DTYPES:
            values = op_tester.special_values(dtype)
            mm.check(values[:, None].contiguous(), values[None])

    def test_dtypes(self) -> None:
        mm = self.op("aten::mm.out")
        for a_dtype, b_dtype in itertools.product(op_tester.ALL_DTYPES, op_tester.ALL_DTYPES):
            mm.judge(torch.ones((2, 3), dtype=a_dtype), torch.ones((3, 4), dtype=b_dtype))
        for dtype in op_tester.UNSIGNED_DTYPES:
            x = torch.ones((2, 2), dtype=dtype)
            mm.check_rejected(x, x, outs=[x])
        for out_dtype in op_tester.ALL_DTYPES:
            x = torch.ones((2, 2))
            mm.judge_out_dtype(x, x, out_dtype=out_dtype)

    def test_wrong_shapes(self) -> None:
        mm = self.op("aten::mm.out")
        shapes = ((2, 3), (3, 2), (3,), (1, 3, 2), (1, 2), ())
        for a_shape, b_shape in itertools.product(shapes, shapes):
            mm.judge(torch.ones(a_shape), torch.ones(b_shape))
        mm.check_rejected(torch.ones(2, 3), torch.ones(3, 4), outs=[torch.ones(2, 4, 1)])
        mm.check_rejected(torch.ones(2, 3), torch.ones(3, 4), outs=[torch.ones(2, 3)], static=True)


if __name__ == "__main__":
    absltest.main()
