"""Tests of op_relu.cpp: relu.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpReluTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::relu.out"))


if __name__ == "__main__":
    absltest.main()
