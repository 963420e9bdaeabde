"""Tests of the operators that copy a tensor unchanged: alias_copy.out, detach_copy.out, lift_fresh_copy.out."""

from absl.testing import absltest

from kernels.testing import op_tester


class OpAliasCopyTest(op_tester.OpTest):
    def test_out(self) -> None:
        for name in ("alias_copy.out", "detach_copy.out", "lift_fresh_copy.out"):
            with self.subTest(name):
                self.check_unary(self.op(f"aten::{name}"), exact=True, dtypes=op_tester.MOVABLE_DTYPES)


if __name__ == "__main__":
    absltest.main()
