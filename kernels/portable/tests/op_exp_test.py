"""Tests of op_exp.cpp: exp.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpExpTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::exp.out"))


if __name__ == "__main__":
    absltest.main()
