"""Tests of op_sin.cpp: sin.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpSinTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::sin.out"))


if __name__ == "__main__":
    absltest.main()
