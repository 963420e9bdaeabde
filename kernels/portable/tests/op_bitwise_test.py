"""Tests of the bitwise and logical functions of two operands."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpBitwiseTest(op_tester.OpTest):
    def test_tensors(self) -> None:
        for name in (
            "bitwise_and.Tensor_out",
            "bitwise_or.Tensor_out",
            "bitwise_xor.Tensor_out",
            "bitwise_left_shift.Tensor_out",
            "bitwise_right_shift.Tensor_out",
        ):
            with self.subTest(name):
                self.check_binary(self.op(f"aten::{name}"))

    def test_scalars(self) -> None:
        for name in ("bitwise_and.Scalar_out", "bitwise_or.Scalar_out", "bitwise_xor.Scalar_out"):
            with self.subTest(name):
                for scalar in (5, -3, True, False):
                    self.check_unary(self.op(f"aten::{name}"), scalar)
                self.op(f"aten::{name}").check_rejected(torch.ones(2, dtype=torch.int32), 1.5)

    def test_shifts_by_scalars(self) -> None:
        for name in ("bitwise_left_shift.Tensor_Scalar_out", "bitwise_right_shift.Tensor_Scalar_out"):
            shift = self.op(f"aten::{name}")
            for dtype in op_tester.ALL_DTYPES:
                for count in (0, 1, 7, 8, 31, 64, -1, True, 1.5):
                    shift.judge(op_tester.special_values(dtype), count)

    def test_logical(self) -> None:
        for name in ("logical_and.out", "logical_or.out", "logical_xor.out"):
            with self.subTest(name):
                self.check_binary(self.op(f"aten::{name}"))


if __name__ == "__main__":
    absltest.main()
