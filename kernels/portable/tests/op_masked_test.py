"""Tests of the operators that take a mask."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpMaskedTest(op_tester.OpTest):
    def test_masked_fill(self) -> None:
        fill = self.op("aten::masked_fill.Scalar_out")
        for dtype in op_tester.ALL_DTYPES:
            mask = op_tester.make_tensor((3, 1), torch.bool)
            for value in (0, 3, -3, 2.75, True, 300, 1e6, float("-inf"), float("nan")):
                fill.judge(op_tester.make_tensor((2, 3, 4), dtype), mask, value, exact=True)
            for mask_dtype in op_tester.ALL_DTYPES:
                fill.judge(op_tester.make_tensor((3,), dtype), op_tester.make_tensor((3,), mask_dtype, low=0), 1)
                fill.judge(op_tester.make_tensor((3,), dtype), torch.ones(3).bool(), 1, out_dtype=mask_dtype)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((2, 3), dtype=dtype)
            fill.check_rejected(x, x.bool(), 1, outs=[x])

    def test_masked_fill_broadcasts(self) -> None:
        fill = self.op("aten::masked_fill.Scalar_out")
        for shape, mask_shape in op_tester.BROADCAST_SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                fill.check(x, op_tester.make_tensor(mask_shape, torch.bool), 7, exact=True)
        for shape, mask_shape in op_tester.NOT_BROADCAST_SHAPES:
            fill.check_rejected(torch.ones(shape), torch.ones(mask_shape, dtype=torch.bool), 7)


if __name__ == "__main__":
    absltest.main()
