"""Tests of op_any.cpp: any.out, any.all_out, any.dims_out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpAnyTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_reduction(self.op("aten::any.out"), dim_lists=False, low=0, high=1.2)

    def test_dims_out(self) -> None:
        self.check_reduction(self.op("aten::any.dims_out"), low=0, high=1.2)

    def test_all_out(self) -> None:
        any_all = self.op("aten::any.all_out")
        for dtype in op_tester.ALL_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    any_all.check(op_tester.make_tensor(shape, dtype, dim_order=order, low=0, high=1.2))
            for value in (0, 1):
                any_all.check(torch.full((300,), value, dtype=dtype), static=True)
            for out_dtype in op_tester.ALL_DTYPES:
                any_all.judge_out_dtype(op_tester.make_tensor((2, 3), dtype), out_dtype=out_dtype)


if __name__ == "__main__":
    absltest.main()
