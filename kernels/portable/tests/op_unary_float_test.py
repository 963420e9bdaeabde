"""Tests of the floating-point functions of one tensor."""

import itertools
import math

import torch
from absl.testing import absltest

from kernels.testing import op_tester

FUNCTIONS = (
    "acos.out", "acosh.out", "asin.out", "asinh.out", "atan.out", "atanh.out", "cos.out", "cosh.out", "digamma.out",
    "erf.out", "erfc.out", "erfinv.out", "exp.out", "expm1.out", "i0.out", "lgamma.out", "log.out", "log10.out",
    "log1p.out", "log2.out", "reciprocal.out", "rsqrt.out", "sigmoid.out", "sin.out", "sinh.out", "sqrt.out", "tan.out",
    "tanh.out",
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

    def test_gamma(self) -> None:
        x = torch.cat([torch.linspace(-20.3, 60, 400), torch.logspace(-30, 8, 100), -torch.logspace(-30, 2, 100)])
        for name in ("digamma.out", "lgamma.out"):
            with self.subTest(name):
                for dtype in op_tester.FLOAT_DTYPES:
                    # Near a zero of the function, PyTorch's results in float have no relative accuracy.
                    self.op(f"aten::{name}").check(x.to(dtype), rounding=op_tester.Rounding.SUM)
                exact = x.double()
                self.op(f"aten::{name}").check(exact)

    def test_error_functions(self) -> None:
        near_one = 1 - torch.logspace(-16, 0, 200, dtype=torch.float64)
        self.op("aten::erfinv.out").check(torch.cat([near_one, -near_one]))
        self.op("aten::erfinv.out").check(near_one.float())
        self.op("aten::erfc.out").check(torch.linspace(-6, 26, 300, dtype=torch.float64))

    def test_bessel(self) -> None:
        for dtype in op_tester.FLOAT_DTYPES:
            for low, high in ((-8, 8), (-100, 100), (-712, 712)):
                self.op("aten::i0.out").check(torch.linspace(low, high, 500).to(dtype))

    def test_logit(self) -> None:
        for eps in (None, 0.1, 0.0, -0.5, 0.7):
            self.check_unary(self.op("aten::logit.out"), eps, low=-0.2, high=1.2, rounding=op_tester.Rounding.OPERANDS)

    def test_eps_of_logit_that_does_not_fit(self) -> None:
        logit = self.op("aten::logit.out")
        for dtype, eps in itertools.product(op_tester.ALL_DTYPES, (70000.0, 1e30, -1e39, 1e300, -math.inf)):
            logit.judge(op_tester.make_tensor((5,), dtype, low=0, high=1), eps)


if __name__ == "__main__":
    absltest.main()
