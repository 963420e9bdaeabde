"""Tests of op_clamp.cpp: clamp.out, clamp.Tensor_out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester

BOUNDS = (
    (-2, 3),
    (None, 2),
    (1, None),
    (3, -3),
    (0.5, 2),
    (None, None),
    (True, None),
    (float("nan"), None),
    (300, 1e6),
)


class OpClampTest(op_tester.OpTest):
    def test_out(self) -> None:
        for bounds in ((-2, 3), (None, 2), (1, None), (0.5, None)):
            self.check_unary(self.op("aten::clamp.out"), *bounds)

    def test_bounds(self) -> None:
        clamp = self.op("aten::clamp.out")
        for dtype in op_tester.ALL_DTYPES:
            for low, high in BOUNDS:
                clamp.judge(op_tester.special_values(dtype), low, high)

    def test_one_tensor(self) -> None:
        self.check_binary(self.op("aten::clamp.Tensor_out"))
        clamp = self.op("aten::clamp.Tensor_out")
        for dtype in op_tester.ALL_DTYPES:
            values = op_tester.special_values(dtype)
            clamp.check(values[:, None], None, values)
        clamp.check_rejected(values)

    def test_two_tensors(self) -> None:
        clamp = self.op("aten::clamp.Tensor_out")
        for dtype in op_tester.ALL_DTYPES:
            values = op_tester.special_values(dtype)
            clamp.judge(values[:, None, None], values[:, None], values)
            x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=(0, 2, 3, 1))
            clamp.judge(x, torch.tensor(2, dtype=dtype), torch.ones(5), out_dim_order=(0, 2, 3, 1))
        clamp.check_rejected(torch.ones(2), torch.ones(2), torch.ones(3))


if __name__ == "__main__":
    absltest.main()
