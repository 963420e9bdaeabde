"""Tests of op_pow.cpp: pow.Tensor_Tensor_out, pow.Tensor_Scalar_out, pow.Scalar_out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpPowTest(op_tester.OpTest):
    def test_tensor_tensor_out(self) -> None:
        self.check_binary(self.op("aten::pow.Tensor_Tensor_out"), low=0, high=3)

    def test_tensor_scalar_out(self) -> None:
        for exponent in (0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.0, 2.5, True):
            self.check_unary(self.op("aten::pow.Tensor_Scalar_out"), exponent)

    def test_scalar_out(self) -> None:
        for base in (0, 1, 2, -1, 1.5, True):
            self.check_unary(self.op("aten::pow.Scalar_out"), leading=(base,))


if __name__ == "__main__":
    absltest.main()
