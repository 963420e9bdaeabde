"""Tests of op_glu.cpp: glu.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpGluTest(op_tester.OpTest):
    def test_out(self) -> None:
        glu = self.op("aten::glu.out")
        for dtype in op_tester.ALL_DTYPES:
            for order in op_tester.dim_orders(4):
                x = op_tester.make_tensor((2, 4, 6, 3), dtype, dim_order=order)
                for dim in range(-5, 5):
                    glu.judge(x, dim)
            values = op_tester.special_values(dtype)
            glu.judge(torch.stack([values, values.flip(0)]), 0)
            for out_dtype in op_tester.ALL_DTYPES:
                glu.judge_out_dtype(op_tester.make_tensor((4, 2), dtype, low=0), out_dtype=out_dtype)
        for shape in ((), (0,), (2, 0), (2, 5, 0)):
            glu.judge(torch.ones(shape))


if __name__ == "__main__":
    absltest.main()
