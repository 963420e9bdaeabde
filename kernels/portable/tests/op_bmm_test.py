"""Tests of op_bmm.cpp: bmm.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

NUMBERS = (*op_tester.FLOAT_DTYPES, *op_tester.INT_DTYPES, *op_tester.COMPLEX_DTYPES)

# Batch, rows, inner dimension, columns.
SIZES = (
    (2, 2, 3, 4),
    (0, 2, 3, 4),
    (3, 0, 3, 4),
    (3, 2, 0, 4),
    (3, 2, 3, 0),
    (1, 1, 1, 1),
    (4, 1, 70, 33),
    (2, 33, 9, 70),
)


class OpBmmTest(op_tester.OpTest):
    def test_sizes(self) -> None:
        bmm = self.op("aten::bmm.out")
        for dtype, (batch, m, k, n) in itertools.product(NUMBERS, SIZES):
            a = op_tester.make_tensor((batch, m, k), dtype, low=0, high=3)
            b = op_tester.make_tensor((batch, k, n), dtype, low=0, high=3)
            bmm.check(a, b)

    def test_dim_orders(self) -> None:
        bmm = self.op("aten::bmm.out")
        orders = ((0, 1, 2), (0, 2, 1), (2, 1, 0), (1, 0, 2))
        for dtype, a_order, b_order, out_order in itertools.product(
            (torch.float32, torch.int8, torch.complex128), orders, orders, orders
        ):
            a = op_tester.make_tensor((3, 9, 20), dtype, dim_order=a_order, low=0, high=3)
            b = op_tester.make_tensor((3, 20, 35), dtype, dim_order=b_order, low=0, high=3)
            bmm.check(a, b, out_dim_order=out_order, static=True)

    def test_special_values(self) -> None:
        bmm = self.op("aten::bmm.out")
        for dtype in op_tester.FLOAT_DTYPES:
            values = op_tester.special_values(dtype)
            bmm.check(values[None, :, None].contiguous(), values[None, None])

    def test_dtypes(self) -> None:
        bmm = self.op("aten::bmm.out")
        for a_dtype, b_dtype in itertools.product(op_tester.ALL_DTYPES, op_tester.ALL_DTYPES):
            bmm.judge(torch.ones((2, 2, 3), dtype=a_dtype), torch.ones((2, 3, 4), dtype=b_dtype))
        for dtype in op_tester.UNSIGNED_DTYPES:
            x = torch.ones((2, 2, 2), dtype=dtype)
            bmm.check_rejected(x, x, outs=[x])
        for out_dtype in op_tester.ALL_DTYPES:
            x = torch.ones((2, 2, 2))
            bmm.judge_out_dtype(x, x, out_dtype=out_dtype)

    def test_wrong_shapes(self) -> None:
        bmm = self.op("aten::bmm.out")
        shapes = ((2, 3, 4), (2, 4, 3), (1, 4, 3), (2, 3), (4, 3), (2, 1, 3), ())
        for a_shape, b_shape in itertools.product(shapes, shapes):
            bmm.judge(torch.ones(a_shape), torch.ones(b_shape))
        bmm.check_rejected(torch.ones(2, 2, 3), torch.ones(2, 3, 4), outs=[torch.ones(2, 2, 4, 1)])
        bmm.check_rejected(torch.ones(2, 2, 3), torch.ones(2, 3, 4), outs=[torch.ones(1, 2, 4)], static=True)


if __name__ == "__main__":
    absltest.main()
