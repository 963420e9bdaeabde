"""Tests of the variances."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

SUM = op_tester.Rounding.SUM


class OpVarTest(op_tester.OpTest):
    def test_var(self) -> None:
        for unbiased in (True, False):
            self.check_reduction(self.op("aten::var.out"), unbiased, special=False, rounding=SUM)

    def test_correction(self) -> None:
        for correction in (None, 0, 2, 1.5, -1, 700):
            var = self.op("aten::var.correction_out")
            var_mean = self.op("aten::var_mean.correction_out")
            for dtype in op_tester.ALL_DTYPES:
                x = op_tester.make_tensor((3, 600), dtype)
                for dim in ([0], [1], None, [], [0, 1], [2], [1, 1]):
                    var.judge(x, dim, correction=correction, rounding=SUM)
                    var_mean.judge(x, dim, correction=correction, keepdim=True, rounding=SUM)

    def test_nothing_has_no_variance(self) -> None:
        for dim, correction in itertools.product((None, [0], [1]), (-(2**63), -3, 0, 5)):
            self.op("aten::var.correction_out").check(torch.ones((2, 0)), dim, correction=correction)

    def test_var_mean(self) -> None:
        self.check_reduction(self.op("aten::var_mean.correction_out"), special=False, rounding=SUM)

    def test_special_values(self) -> None:
        for value in (float("nan"), float("inf"), 1e-40, 3e38):
            self.op("aten::var.out").check(torch.tensor([[value] * 2, [1, value]]), [1])

    def test_large_means(self) -> None:
        x = op_tester.make_tensor((1000, 100), torch.float32, low=10000, high=10001)
        for dim in ([0], [1], None):
            self.op("aten::var.correction_out").check(x, dim, rtol=1e-5)


if __name__ == "__main__":
    absltest.main()
