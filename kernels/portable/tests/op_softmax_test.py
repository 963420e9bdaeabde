"""Tests of _softmax.out and _log_softmax.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

# PyTorch rounds the logarithm of the sum to half precision before the subtraction.
OPERATORS = (("aten::_softmax.out", op_tester.Rounding.RESULT), ("aten::_log_softmax.out", op_tester.Rounding.OPERANDS))


class OpSoftmaxTest(op_tester.OpTest):
    def operators(self) -> list[tuple[op_tester.OpTester, op_tester.Rounding]]:
        return [(self.op(name), rounding) for name, rounding in OPERATORS]

    def test_out(self) -> None:
        for softmax, rounding in self.operators():
            for dim in (-1, 0, 1, -2):
                self.check_unary(softmax, dim, False, dtypes=op_tester.FLOAT_DTYPES, rounding=rounding)

    def test_dims(self) -> None:
        for softmax, rounding in self.operators():
            for dtype in op_tester.FLOAT_DTYPES:
                for order in op_tester.dim_orders(4):
                    for dim in range(-5, 5):
                        x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=order)
                        softmax.judge(x, dim, False, rounding=rounding)
                        softmax.judge(x, dim, False, out_dim_order=order, static=True, rounding=rounding)

    def test_long_lines(self) -> None:
        for softmax, rounding in self.operators():
            for dtype in op_tester.FLOAT_DTYPES:
                for length in (255, 256, 257, 1000, 5000):
                    softmax.check(op_tester.make_tensor((3, length), dtype), 1, False, rounding=rounding)
                    softmax.check(op_tester.make_tensor((length, 3), dtype), 0, False, rounding=rounding)

    def test_special_values(self) -> None:
        for softmax, rounding in self.operators():
            for dtype in op_tester.FLOAT_DTYPES:
                values = op_tester.special_values(dtype)
                for first, second in itertools.product(values, values):
                    softmax.check(torch.stack([first, second]), 0, False, rounding=rounding)
                softmax.check(torch.full((4,), float("-inf"), dtype=dtype), 0, False, rounding=rounding)

    def test_dtypes(self) -> None:
        for softmax, rounding in self.operators():
            for dtype in op_tester.ALL_DTYPES:
                softmax.judge(op_tester.make_tensor((3, 5), dtype), 1, False, rounding=rounding)

    def test_half_to_float(self) -> None:
        for softmax, rounding in self.operators():
            for dtype in op_tester.ALL_DTYPES:
                softmax.judge(op_tester.make_tensor((3, 5), dtype), 1, True, out_dtype=torch.float32, rounding=rounding)


if __name__ == "__main__":
    absltest.main()
