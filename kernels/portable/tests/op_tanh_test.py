"""Tests of op_tanh.cpp: tanh.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpTanhTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::tanh.out"))


if __name__ == "__main__":
    absltest.main()
