"""Tests of fmod, remainder and floor_divide."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpDivisionTest(op_tester.OpTest):
    def test_tensors(self) -> None:
        for name in ("fmod.Tensor_out", "remainder.Tensor_out", "floor_divide.out"):
            with self.subTest(name):
                self.check_binary(self.op(f"aten::{name}"), low=1, special=False)
                self.check_binary(self.op(f"aten::{name}"), low=-9, special=False, dtypes=[torch.float32])

    def test_complex(self) -> None:
        """Tests complex tensors with more elements than a block."""
        x = torch.ones(1000, dtype=torch.complex128)
        for name in ("fmod.Tensor_out", "remainder.Tensor_out", "floor_divide.out"):
            with self.subTest(name):
                self.op(f"aten::{name}").check_rejected(x, x, outs=[x])

    def test_special_values(self) -> None:
        for name in ("fmod.Tensor_out", "remainder.Tensor_out", "floor_divide.out"):
            with self.subTest(name):
                tester = self.op(f"aten::{name}")
                for dtype in op_tester.ALL_DTYPES:
                    values = op_tester.special_values(dtype)
                    divisors = values
                    if dtype in (torch.float32, torch.float64):
                        # PyTorch's vectorized fmod returns NaN for denormal divisors.
                        divisors = values[(values == 0) | ~(values.abs() < torch.finfo(dtype).tiny)]
                    if dtype == torch.float64:
                        # PyTorch's fmod is also wrong if the quotient has more than 52 bits.
                        values = values[~(values.abs() == torch.finfo(dtype).max)]
                        divisors = divisors[~(divisors.abs() == torch.finfo(dtype).max)]
                    tester.judge(values[:, None], divisors)
                    if not dtype.is_floating_point:
                        tester.judge(values[:, None], values[values != 0])
                    if dtype.is_signed and not dtype.is_floating_point:
                        tester.judge(values, torch.tensor(-1, dtype=dtype))

    def test_scalars(self) -> None:
        for name in ("fmod.Scalar_out", "remainder.Scalar_out"):
            with self.subTest(name):
                for scalar in (3, -2, 1.5, True):
                    self.check_unary(self.op(f"aten::{name}"), scalar)
                for dtype in op_tester.ALL_DTYPES:
                    for scalar in (0, 0.0, False, float("inf")):
                        self.op(f"aten::{name}").judge(op_tester.make_tensor((2, 3), dtype), scalar)

    def test_scalars_are_rounded_to_the_common_dtype(self) -> None:
        for name in ("fmod.Scalar_out", "remainder.Scalar_out"):
            tester = self.op(f"aten::{name}")
            for dtype in op_tester.FLOAT_DTYPES:
                x = op_tester.make_tensor((40,), dtype)
                for scalar in (0.1, -0.7, 1e-45 if dtype.itemsize == 2 else 1e-3, 2049, 70000, 1e30):
                    tester.check(x, scalar)


if __name__ == "__main__":
    absltest.main()
