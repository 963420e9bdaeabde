"""Tests of op_sum.cpp: sum.IntList_out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester

DTYPES = (*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES)


class OpSumTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_reduction(self.op("aten::sum.IntList_out"), rounding=op_tester.Rounding.SUM, dtypes=DTYPES)

    def test_out_dtype_argument(self) -> None:
        tester = self.op("aten::sum.IntList_out")
        for in_dtype in DTYPES:
            x = op_tester.make_tensor((3, 5), in_dtype, low=0)
            for dtype in DTYPES:
                tester.judge(x, [1], dtype=dtype)
                tester.judge(x, None, dtype=torch.float32, out_dtype=dtype)

    def test_many_elements(self) -> None:
        tester = self.op("aten::sum.IntList_out")
        x = torch.rand((1000, 999), generator=torch.Generator().manual_seed(0))
        for dim in ([0], [1], None):
            tester.check(x, dim, rtol=1e-5)


if __name__ == "__main__":
    absltest.main()
