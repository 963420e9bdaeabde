"""Tests of op_eq.cpp: eq.Tensor_out, eq.Scalar_out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpEqTest(op_tester.OpTest):
    def test_tensor_out(self) -> None:
        self.check_binary(self.op("aten::eq.Tensor_out"))

    def test_scalar_out(self) -> None:
        for scalar in (3, 0.1, True, -1):
            self.check_unary(self.op("aten::eq.Scalar_out"), scalar)


if __name__ == "__main__":
    absltest.main()
