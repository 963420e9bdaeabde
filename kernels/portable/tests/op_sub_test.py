"""Tests of op_sub.cpp: sub.out, sub.Scalar_out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester

DTYPES = (*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES)


class OpSubTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_binary(self.op("aten::sub.out"), dtypes=DTYPES)

    def test_out_alpha(self) -> None:
        sub = self.op("aten::sub.out")
        for dtype in DTYPES:
            x = op_tester.make_tensor((2, 3), dtype)
            for alpha in (2, -1, 1.5, True):
                # For some elements, PyTorch rounds alpha * x to a 16-bit dtype before the subtraction.
                small = dtype.to_real() in (torch.float16, torch.bfloat16)
                sub.judge(x, x, alpha=alpha, atol=0.04 if small else None)

    def test_scalar_out(self) -> None:
        for scalar in (3, 1.5):
            self.check_unary(self.op("aten::sub.Scalar_out"), scalar, dtypes=DTYPES)

    def test_bool_scalar_is_rejected(self) -> None:
        for dtype in DTYPES:
            self.op("aten::sub.Scalar_out").check_rejected(op_tester.make_tensor((2, 3), dtype), True)

    def test_scalar_out_alpha(self) -> None:
        sub = self.op("aten::sub.Scalar_out")
        for dtype in DTYPES:
            for scalar, alpha in ((3, 2), (1.5, 2), (3, 1.5), (True, True), (3, True)):
                sub.judge(op_tester.make_tensor((2, 3), dtype), scalar, alpha)


if __name__ == "__main__":
    absltest.main()
