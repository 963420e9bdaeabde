"""Tests of op_hardtanh.cpp: hardtanh.out."""

import math

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpHardtanhTest(op_tester.OpTest):
    def test_out(self) -> None:
        for bounds in ((), (0, 6), (-2.5, 3.5), (3, -3)):
            self.check_unary(self.op("aten::hardtanh.out"), *bounds)

    def test_bounds_outside_the_dtype(self) -> None:
        hardtanh = self.op("aten::hardtanh.out")
        for dtype in (torch.uint8, torch.int8, torch.float16, torch.float32):
            for bounds in ((-1, 1), (0, 300), (0, 1e6), (0.0, 1e39), (-0.5, 0.5), (-1.5, 1e300)):
                hardtanh.judge(op_tester.make_tensor((2, 3), dtype), *bounds)

    def test_nan_bounds(self) -> None:
        hardtanh = self.op("aten::hardtanh.out")
        for dtype in op_tester.FLOAT_DTYPES:
            for bounds in ((math.nan, 1.0), (-1.0, math.nan), (math.nan, math.nan)):
                hardtanh.check(op_tester.make_tensor((2, 3), dtype), *bounds)


if __name__ == "__main__":
    absltest.main()
