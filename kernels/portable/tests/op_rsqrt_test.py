"""Tests of op_rsqrt.cpp: rsqrt.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpRsqrtTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::rsqrt.out"))


if __name__ == "__main__":
    absltest.main()
