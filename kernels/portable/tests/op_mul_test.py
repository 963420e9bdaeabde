"""Tests of op_mul.cpp: mul.out, mul.Scalar_out."""

from absl.testing import absltest

from kernels.testing import op_tester

DTYPES = (*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES)


class OpMulTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_binary(self.op("aten::mul.out"), dtypes=DTYPES)

    def test_scalar_out(self) -> None:
        for scalar in (3, 1.5, True):
            self.check_unary(self.op("aten::mul.Scalar_out"), scalar, dtypes=DTYPES)


if __name__ == "__main__":
    absltest.main()
