"""Tests of op_sigmoid.cpp: sigmoid.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpSigmoidTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::sigmoid.out"))


if __name__ == "__main__":
    absltest.main()
