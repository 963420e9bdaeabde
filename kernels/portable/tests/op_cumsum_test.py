"""Tests of op_cumsum.cpp: cumsum.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpCumsumTest(op_tester.OpTest):
    def test_out(self) -> None:
        for dim in (-1, 0, 1, -2):
            self.check_unary(self.op("aten::cumsum.out"), dim, rounding=op_tester.Rounding.SUM)

    def test_dims(self) -> None:
        cumsum = self.op("aten::cumsum.out")
        for dtype in op_tester.ALL_DTYPES:
            for order in op_tester.dim_orders(4):
                x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=order)
                for dim in range(-5, 5):
                    cumsum.judge(x, dim, out_dim_order=order, rounding=op_tester.Rounding.SUM)

    def test_out_dtype_argument(self) -> None:
        cumsum = self.op("aten::cumsum.out")
        for in_dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), in_dtype, low=0)
            for dtype in op_tester.ALL_DTYPES:
                cumsum.judge(x, 1, dtype=dtype)
                cumsum.judge(x, 0, dtype=torch.float32, out_dtype=dtype)

    def test_long_lines(self) -> None:
        for length in (255, 256, 257, 5000):
            self.op("aten::cumsum.out").check(op_tester.make_tensor((2, length), torch.float32), 1)


if __name__ == "__main__":
    absltest.main()
