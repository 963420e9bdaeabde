"""Tests of the floating-point functions of one tensor."""

import itertools
import math

from absl.testing import absltest

from kernels.testing import op_tester

FUNCTIONS = (
    "acos.out", "acosh.out", "asin.out", "asinh.out", "atan.out", "atanh.out", "cos.out", "cosh.out", "erf.out",
    "exp.out", "expm1.out", "log.out", "log10.out", "log1p.out", "log2.out", "reciprocal.out", "rsqrt.out",
    "sigmoid.out", "sin.out", "sinh.out", "sqrt.out", "tan.out", "tanh.out",
)  # fmt: skip


class OpUnaryFloatTest(op_tester.OpTest):
    def test_out(self) -> None:
        for name in FUNCTIONS:
            with self.subTest(name):
                self.check_unary(self.op(f"aten::{name}"))

    def test_between_minus_one_and_one(self) -> None:
        for name in FUNCTIONS:
            with self.subTest(name):
                function = self.op(f"aten::{name}")
                for dtype in op_tester.FLOAT_DTYPES:
                    function.check(op_tester.make_tensor((40,), dtype, low=-1, high=1))

    def test_logit(self) -> None:
        for eps in (None, 0.1, 0.0, -0.5, 0.7):
            self.check_unary(self.op("aten::logit.out"), eps, low=-0.2, high=1.2, rounding=op_tester.Rounding.OPERANDS)

    def test_eps_of_logit_that_does_not_fit(self) -> None:
        logit = self.op("aten::logit.out")
        for dtype, eps in itertools.product(op_tester.ALL_DTYPES, (70000.0, 1e30, -1e39, 1e300, -math.inf)):
            logit.judge(op_tester.make_tensor((5,), dtype, low=0, high=1), eps)


if __name__ == "__main__":
    absltest.main()
