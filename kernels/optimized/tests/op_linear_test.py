"""Tests of op_linear.cpp: linear.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

NUMBERS = (*op_tester.FLOAT_DTYPES, *op_tester.INT_DTYPES, *op_tester.COMPLEX_DTYPES)

# Leading sizes, inner dimension, columns: empty tensors, one element, vectors, full and partial blocks of the loops.
SIZES = (
    ((2,), 3, 4),
    ((1,), 1, 1),
    ((0,), 3, 4),
    ((2,), 0, 4),
    ((2,), 3, 0),
    ((), 5, 3),
    ((1,), 300, 17),
    ((70,), 45, 1),
    ((33,), 64, 130),
    ((2, 3), 7, 5),
    ((2, 1, 40), 130, 35),
    ((3, 0, 2), 4, 5),
)

# Leading sizes and inner dimension for 1-dim weights, and the shapes of biases that PyTorch accepts with them.
OF_VECTORS: tuple[tuple[tuple[int, ...], int, tuple[tuple[int, ...], ...]], ...] = (
    ((), 5, ((),)),
    ((3,), 70, ()),
    ((2, 3), 7, ((), (2, 3))),
    ((0,), 3, ()),
    ((2,), 0, ()),
)


class OpLinearTest(op_tester.OpTest):
    def test_sizes(self) -> None:
        linear = self.op("aten::linear.out")
        for dtype, (rows, k, n) in itertools.product(NUMBERS, SIZES):
            x = op_tester.make_tensor((*rows, k), dtype, low=0, high=3)
            weight = op_tester.make_tensor((n, k), dtype, low=0, high=3)
            linear.check(x, weight)
            # PyTorch rounds a half-precision product before it adds the bias. The kernel rounds only the sum.
            rounding = {torch.float16: 0.5, torch.bfloat16: 4.0}.get(dtype)
            linear.check(x, weight, op_tester.make_tensor((n,), dtype), atol=rounding)

    def test_biases(self) -> None:
        linear = self.op("aten::linear.out")
        weight = op_tester.make_tensor((4, 5), torch.float32, low=0)
        for rows in ((3,), (2, 3), ()):
            x = op_tester.make_tensor((*rows, 5), torch.float32, low=0)
            for shape in ((4,), (1,), (), *([(3, 4), (3, 1), (1, 4)] if rows == (3,) else [])):
                linear.check(x, weight, op_tester.make_tensor(shape, torch.float32, low=0))
            for wrong in ((5,), (2,), (0,), (1, 1, 1, 4)):
                linear.check_rejected(x, weight, torch.ones(wrong))

    def test_weights_of_one_dimension(self) -> None:
        linear = self.op("aten::linear.out")
        dtypes = (torch.float32, torch.bfloat16, torch.int64)
        for dtype, (rows, k, biases) in itertools.product(dtypes, OF_VECTORS):
            x = op_tester.make_tensor((*rows, k), dtype, low=0, high=3)
            weight = op_tester.make_tensor((k,), dtype, low=0, high=3)
            linear.check(x, weight)
            for bias in biases:
                linear.check(x, weight, op_tester.make_tensor(bias, dtype, low=0, high=3), atol=0.5)
        linear.check_rejected(torch.ones(3, 5), torch.ones(4))
        linear.check_rejected(torch.ones(3, 5), torch.ones(5), torch.ones(2))
        linear.check_rejected(torch.ones(3, 5), torch.tensor(1.0))

    def test_dim_orders(self) -> None:
        linear = self.op("aten::linear.out")
        weight_orders = op_tester.dim_orders(2)
        for shape in ((19, 70), (3, 4, 70), (2, 3, 4, 70)):
            orders = op_tester.dim_orders(len(shape))
            for order, weight_order, out_order in itertools.product(orders, weight_orders, orders):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order, low=0, high=3)
                weight = op_tester.make_tensor((35, 70), torch.float32, dim_order=weight_order, low=0, high=3)
                linear.check(x, weight, out_dim_order=out_order, static=True)
                linear.check(x, weight, torch.arange(35.0), out_dim_order=out_order, static=True)

    def test_special_values(self) -> None:
        linear = self.op("aten::linear.out")
        for dtype in op_tester.FLOAT_DTYPES:
            values = op_tester.special_values(dtype)[:, None].contiguous()
            linear.check(values, values)
            linear.check(values, torch.ones((3, 1), dtype=dtype), torch.tensor([1, torch.inf, torch.nan], dtype=dtype))

    def test_dtypes(self) -> None:
        linear = self.op("aten::linear.out")
        for dtype, other in itertools.product(op_tester.ALL_DTYPES, op_tester.ALL_DTYPES):
            x, y = torch.ones((2, 2), dtype=dtype), torch.ones((2, 2), dtype=other)
            linear.judge(x, y)
            linear.judge(x, x, y)
            linear.judge(x, y, y)
            linear.judge_out_dtype(x, x, out_dtype=other)
        for dtype in op_tester.UNSIGNED_DTYPES:
            x = torch.ones((2, 2), dtype=dtype)
            linear.check_rejected(x, x, outs=[x])

    def test_wrong_shapes(self) -> None:
        linear = self.op("aten::linear.out")
        for shape, weight in itertools.product(((2, 3), (3,), (1, 2, 3), (1, 2), ()), ((4, 3), (3, 4), (1, 4, 3))):
            linear.judge(torch.ones(shape), torch.ones(weight))
        x, weight_2d = torch.ones(2, 3), torch.ones(4, 3)
        linear.check_rejected(x, weight_2d, outs=[torch.ones(2, 4, 1)])
        linear.check_rejected(x, weight_2d, outs=[torch.ones(2, 3)], static=True)


if __name__ == "__main__":
    absltest.main()
