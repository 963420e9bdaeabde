"""Tests of op_neg.cpp: neg.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpNegTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::neg.out"))


if __name__ == "__main__":
    absltest.main()
