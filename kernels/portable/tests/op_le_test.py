"""Tests of op_le.cpp: le.Tensor_out, le.Scalar_out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpLeTest(op_tester.OpTest):
    def test_tensor_out(self) -> None:
        self.check_binary(self.op("aten::le.Tensor_out"))

    def test_scalar_out(self) -> None:
        for scalar in (3, 0.1, True, -1):
            self.check_unary(self.op("aten::le.Scalar_out"), scalar)


if __name__ == "__main__":
    absltest.main()
