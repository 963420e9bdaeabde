"""Tests of the functions of two operands, except comparisons, bitwise functions and divisions."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpBinaryTest(op_tester.OpTest):
    def test_maximum_minimum(self) -> None:
        for name in ("maximum.out", "minimum.out"):
            with self.subTest(name):
                self.check_binary(self.op(f"aten::{name}"))

    def test_atan2(self) -> None:
        self.check_binary(self.op("aten::atan2.out"))

    def test_rsub(self) -> None:
        for scalar in (3, 1.5):
            self.check_unary(self.op("aten::rsub.Scalar_out"), scalar)

    def test_rsub_alpha(self) -> None:
        rsub = self.op("aten::rsub.Scalar_out")
        for dtype in op_tester.ALL_DTYPES:
            for scalar, alpha in ((3, 2), (1.5, 2), (3, 1.5), (3, True), (True, 1), (3, 1e39)):
                rsub.judge(op_tester.make_tensor((2, 3), dtype), scalar, alpha)


if __name__ == "__main__":
    absltest.main()
