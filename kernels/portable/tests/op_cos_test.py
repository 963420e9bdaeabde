"""Tests of op_cos.cpp: cos.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpCosTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::cos.out"))


if __name__ == "__main__":
    absltest.main()
