"""Tests of op_slice_copy.cpp: slice_copy.Tensor_out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpSliceCopyTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::slice_copy.Tensor_out"), 0, 1, 3, dtypes=op_tester.MOVABLE_DTYPES)

    def test_dims_and_bounds(self) -> None:
        tester = self.op("aten::slice_copy.Tensor_out")
        bounds = (None, 0, 1, 4, 9, 10, -1, -4, -9, -10, (1 << 63) - 1, -1 << 63)
        for order in op_tester.dim_orders(2):
            x = op_tester.make_tensor((4, 9), torch.float32, dim_order=order)
            for dim in range(-3, 3):
                for start, end in itertools.product(bounds, bounds):
                    for step in (1, 2, 5, 1 << 40):
                        tester.judge(x, dim, start, end, step, exact=True)

    def test_rejected(self) -> None:
        tester = self.op("aten::slice_copy.Tensor_out")
        x = op_tester.make_tensor((4, 9), torch.float32)
        for step in (0, -1, -1 << 63):
            tester.check_rejected(x, 0, 0, 4, step)
        tester.check_rejected(torch.tensor(1.0), 0)


if __name__ == "__main__":
    absltest.main()
