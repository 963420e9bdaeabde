"""Tests of op_prod.cpp: prod.int_out, prod.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpProdTest(op_tester.OpTest):
    def test_int_out(self) -> None:
        self.check_reduction(self.op("aten::prod.int_out"), dim_lists=False, low=-1, high=1.3, special=False, rtol=2e-2)

    def test_dtype_argument(self) -> None:
        prod = self.op("aten::prod.int_out")
        whole = self.op("aten::prod.out")
        for in_dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 4), in_dtype, low=0)
            for dtype in (None, *op_tester.ALL_DTYPES):
                prod.judge(x, 1, dtype=dtype)
                whole.judge(x, dtype=dtype)
                whole.judge(x, dtype=torch.float32, out_dtype=dtype)

    def test_special_values(self) -> None:
        for value in (float("nan"), float("inf"), 0.0, 1e-40, 3e38):
            self.op("aten::prod.int_out").check(torch.tensor([[value, 2], [1, value]]), 1)

    def test_out(self) -> None:
        whole = self.op("aten::prod.out")
        for dtype in op_tester.ALL_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    whole.check(op_tester.make_tensor(shape, dtype, dim_order=order, low=-1, high=1.3), rtol=2e-2)


if __name__ == "__main__":
    absltest.main()
