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

    def test_hypot(self) -> None:
        self.check_binary(self.op("aten::hypot.out"))

    def test_nextafter(self) -> None:
        # PyTorch rounds both operands to the common dtype first.
        nextafter = self.op("aten::nextafter.out")
        for dtype in op_tester.FLOAT_DTYPES:
            for a_shape, b_shape in (((2, 3), (2, 3)), ((4, 1), (3,)), ((), (2,)), ((0, 3), (3,))):
                a, b = op_tester.make_tensor(a_shape, dtype), op_tester.make_tensor(b_shape, dtype)
                nextafter.judge(a, b, exact=True)
            values = op_tester.special_values(dtype)
            nextafter.judge(values[:, None], values, exact=True)
            nextafter.judge(values, values.double(), exact=True)

    def test_gcd(self) -> None:
        self.check_binary(self.op("aten::gcd.out"))

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
