"""Tests of op_div.cpp: div.Scalar_mode_out, div.Scalar_out, div.out, div.out_mode."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester

DTYPES = (*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES)
_SMALL_FLOAT_DTYPES = (torch.float16, torch.bfloat16)


class OpDivTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_binary(self.op("aten::div.out"), dtypes=DTYPES)

    def test_scalar_out(self) -> None:
        for scalar in (3, 1.5, True, 0):
            self.check_unary(self.op("aten::div.Scalar_out"), scalar, dtypes=DTYPES)

    def test_out_mode(self) -> None:
        div = self.op("aten::div.out_mode")
        dtypes = [dtype for dtype in op_tester.ALL_DTYPES if dtype not in _SMALL_FLOAT_DTYPES]
        self.check_binary(div, rounding_mode=None, dtypes=DTYPES)
        for rounding_mode in ("trunc", "floor"):
            self.check_binary(div, rounding_mode=rounding_mode, dtypes=dtypes)
            self.check_binary(div, rounding_mode=rounding_mode, dtypes=dtypes, low=1)

    def test_out_mode_of_small_dtypes(self) -> None:
        div = self.op("aten::div.out_mode")
        for dtype in _SMALL_FLOAT_DTYPES:
            for rounding_mode in ("trunc", "floor"):
                for a_shape, b_shape in op_tester.BROADCAST_SHAPES:
                    a, b = op_tester.make_tensor(a_shape, dtype), op_tester.make_tensor(b_shape, dtype)
                    # For some elements, PyTorch first rounds the quotient to the dtype, then to an integer.
                    div.check(a, b, rounding_mode=rounding_mode, atol=1)

    def test_signs(self) -> None:
        div = self.op("aten::div.out_mode")
        for dtype in op_tester.ALL_DTYPES:
            a = torch.arange(-8, 9).to(dtype)
            b = torch.tensor([-7, -3, -2, -1, 1, 2, 3, 7]).to(dtype)[:, None]
            for rounding_mode in ("trunc", "floor"):
                div.judge(a, b, rounding_mode=rounding_mode)

    def test_least_integer_by_minus_one_does_not_trap(self) -> None:
        div = self.op("aten::div.out_mode")
        for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
            least = torch.tensor([torch.iinfo(dtype).min], dtype=dtype)
            for rounding_mode in ("trunc", "floor"):
                (quotient,) = div.run(least, torch.tensor([-1], dtype=dtype), rounding_mode=rounding_mode, outs=[least])
                self.assertEqual(quotient.item(), least.item())

    def test_integers_by_zero_are_rejected(self) -> None:
        div = self.op("aten::div.out_mode")
        for dtype in op_tester.INT_DTYPES:
            x = op_tester.make_tensor((600,), dtype)
            zero = torch.cat([torch.ones(599), torch.zeros(1)]).to(dtype)
            for rounding_mode in ("trunc", "floor"):
                div.check_rejected(x, zero, rounding_mode=rounding_mode)
                div.check_rejected(x, torch.tensor(0), rounding_mode=rounding_mode)
                div.judge(x[:0], torch.tensor(0), rounding_mode=rounding_mode)

    def test_scalar_mode_out(self) -> None:
        div = self.op("aten::div.Scalar_mode_out")
        for rounding_mode in (None, "trunc", "floor"):
            for scalar in (3, -2, 1.5, True):
                dtypes = op_tester.ALL_DTYPES if rounding_mode else DTYPES
                self.check_unary(div, scalar, rounding_mode=rounding_mode, dtypes=dtypes)
            for dtype in op_tester.ALL_DTYPES:
                div.judge(op_tester.make_tensor((2, 3), dtype), 0, rounding_mode=rounding_mode)

    def test_unknown_rounding_mode_is_rejected(self) -> None:
        x = torch.ones(3)
        self.op("aten::div.out_mode").check_rejected(x, x, rounding_mode="up")
        self.op("aten::div.Scalar_mode_out").check_rejected(x, 2, rounding_mode="")


if __name__ == "__main__":
    absltest.main()
