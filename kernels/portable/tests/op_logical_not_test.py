"""Tests of op_logical_not.cpp: logical_not.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpLogicalNotTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::logical_not.out"))


if __name__ == "__main__":
    absltest.main()
