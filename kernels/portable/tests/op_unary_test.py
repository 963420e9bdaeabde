"""Tests of the functions of one tensor that keep its dtype, and of those whose results are Bool."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester

NAMES = (
    "bitwise_not.out", "ceil.out", "floor.out", "neg.out", "relu.out", "round.out", "sign.out", "trunc.out",
)  # fmt: skip


class OpUnaryTest(op_tester.OpTest):
    def test_out(self) -> None:
        for name in NAMES:
            with self.subTest(name):
                self.check_unary(self.op(f"aten::{name}"), exact=True)

    def test_abs(self) -> None:
        self.check_unary(self.op("aten::abs.out"), dtypes=(*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES))

    def test_predicates(self) -> None:
        for name in ("isinf.out", "isnan.out", "logical_not.out"):
            with self.subTest(name):
                self.check_unary(self.op(f"aten::{name}"))

    def test_halves_and_large_numbers(self) -> None:
        values = [n + half for n in (0, 1, 2, 8388606, 8388607, 4503599627370494) for half in (-0.5, 0, 0.5, 0.75)]
        for name in ("ceil.out", "floor.out", "round.out", "trunc.out"):
            function = self.op(f"aten::{name}")
            for dtype in op_tester.FLOAT_DTYPES:
                x = torch.tensor(values, dtype=dtype)
                for result, expected in zip(
                    function.run(torch.cat([x, -x]), outs=[torch.cat([x, -x])]),
                    function.expect(torch.cat([x, -x])),
                    strict=True,
                ):
                    self.assertTrue(torch.equal(result, expected), name)
                    self.assertTrue(torch.equal(result.signbit(), expected.signbit()), f"{name}: signs of zeros")


if __name__ == "__main__":
    absltest.main()
