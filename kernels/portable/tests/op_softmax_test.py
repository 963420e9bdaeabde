"""Tests of op_softmax.cpp: _softmax.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpSoftmaxTest(op_tester.OpTest):
    def test_out(self) -> None:
        for dim in (-1, 0, 1, -2):
            self.check_unary(self.op("aten::_softmax.out"), dim, False, dtypes=op_tester.FLOAT_DTYPES)

    def test_dims(self) -> None:
        softmax = self.op("aten::_softmax.out")
        for dtype in op_tester.FLOAT_DTYPES:
            for order in op_tester.dim_orders(4):
                for dim in range(-5, 5):
                    x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=order)
                    softmax.judge(x, dim, False)
                    softmax.judge(x, dim, False, out_dim_order=order, static=True)

    def test_long_lines(self) -> None:
        softmax = self.op("aten::_softmax.out")
        for dtype in op_tester.FLOAT_DTYPES:
            for length in (255, 256, 257, 1000):
                softmax.check(op_tester.make_tensor((3, length), dtype), 1, False)
                softmax.check(op_tester.make_tensor((length, 3), dtype), 0, False)

    def test_special_values(self) -> None:
        softmax = self.op("aten::_softmax.out")
        for dtype in op_tester.FLOAT_DTYPES:
            values = op_tester.special_values(dtype)
            for first, second in itertools.product(values, values):
                softmax.check(torch.stack([first, second]), 0, False)
            softmax.check(torch.full((4,), float("-inf"), dtype=dtype), 0, False)

    def test_dtypes(self) -> None:
        softmax = self.op("aten::_softmax.out")
        for dtype in op_tester.ALL_DTYPES:
            softmax.judge(op_tester.make_tensor((3, 5), dtype), 1, False)

    def test_half_to_float(self) -> None:
        softmax = self.op("aten::_softmax.out")
        for dtype in op_tester.ALL_DTYPES:
            softmax.judge(op_tester.make_tensor((3, 5), dtype), 1, True, out_dtype=torch.float32)


if __name__ == "__main__":
    absltest.main()
