"""Tests of op_alias_copy.cpp: alias_copy.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpAliasCopyTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::alias_copy.out"))

    def test_values_are_the_same(self) -> None:
        for dtype in op_tester.ALL_DTYPES:
            self.op("aten::alias_copy.out").check(op_tester.special_values(dtype), exact=True)


if __name__ == "__main__":
    absltest.main()
