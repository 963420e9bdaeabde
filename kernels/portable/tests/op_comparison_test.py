"""Tests of the comparisons."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpComparisonTest(op_tester.OpTest):
    def test_tensor_out(self) -> None:
        for name in (
            "eq.Tensor_out",
            "ge.Tensor_out",
            "gt.Tensor_out",
            "le.Tensor_out",
            "lt.Tensor_out",
            "ne.Tensor_out",
        ):
            with self.subTest(name):
                self.check_binary(self.op(f"aten::{name}"))

    def test_scalar_out(self) -> None:
        for name in (
            "eq.Scalar_out",
            "ge.Scalar_out",
            "gt.Scalar_out",
            "le.Scalar_out",
            "lt.Scalar_out",
            "ne.Scalar_out",
        ):
            with self.subTest(name):
                for scalar in (3, 0.1, True, -1):
                    self.check_unary(self.op(f"aten::{name}"), scalar)
                for dtype in op_tester.UNSIGNED_DTYPES:  # compared as Float
                    self.op(f"aten::{name}").check(torch.tensor([0, 1, 65535]).to(dtype), 0.5)


if __name__ == "__main__":
    absltest.main()
