"""Tests of op_cumprod.cpp, op_cummax.cpp and op_logcumsumexp.cpp: cumprod, cummax, cummin and logcumsumexp."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpCumulativeTest(op_tester.OpTest):
    def test_cumprod(self) -> None:
        for dim in (-1, 0, 1):
            self.check_unary(self.op("aten::cumprod.out"), dim, low=-2, high=2, rounding=op_tester.Rounding.SUM)

    def test_cumprod_dtype(self) -> None:
        cumprod = self.op("aten::cumprod.out")
        for in_dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), in_dtype, low=0, high=3)
            for dtype in op_tester.ALL_DTYPES:
                cumprod.judge(x, 1, dtype=dtype)
                cumprod.judge(x, 0, dtype=torch.float32, out_dtype=dtype)

    def test_logcumsumexp(self) -> None:
        logcumsumexp = self.op("aten::logcumsumexp.out")
        for dim in (-1, 0, 1):
            self.check_unary(logcumsumexp, dim, dtypes=op_tester.FLOAT_DTYPES)
        inf = float("inf")
        for line in ([-inf, -inf, 1], [inf, inf, -inf], [700, 800, 900], [-900, -800], [inf, -inf, float("nan"), 1]):
            for dtype in (torch.float32, torch.float64):
                logcumsumexp.check(torch.tensor(line, dtype=dtype), 0)
        logcumsumexp.check(op_tester.make_tensor((2, 1000), torch.float32), 1)

    def test_extremes(self) -> None:
        for name in ("aten::cummax.out", "aten::cummin.out"):
            tester = self.op(name)
            for dtype in op_tester.ALL_DTYPES:
                for order in op_tester.dim_orders(4):
                    x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=order)
                    for dim in range(-5, 5):
                        tester.judge(x, dim, exact=True, out_dim_order=order)
                values = op_tester.special_values(dtype)
                for x in (values, values.flip(0), values.repeat(3), values[:10]):
                    tester.check(x, 0, exact=True)
            for shape in ((), (0,), (2, 0, 3), (1,)):
                tester.check(torch.ones(shape), 0)
            nan, inf = float("nan"), float("inf")
            for line in ([-inf, -inf], [inf, inf], [nan, nan, 1, nan], [-0.0, 0.0, -0.0], [1, -nan, 2]):
                tester.check(torch.tensor(line), 0, exact=True)
            tester.check_threads(torch.randn((40, 5000), generator=torch.Generator().manual_seed(0)), 1)
            x = torch.ones(3, 4)
            tester.check_rejected(x, 0, outs=[x.double(), x.long()])
            tester.check_rejected(x, 0, outs=[x, x.int()])
            tester.check_rejected(x, 0, outs=[torch.ones(2, 4), x.long()], static=True)
            for dtype in op_tester.UNSUPPORTED_DTYPES:
                tester.check_rejected(x.to(dtype), 0, outs=[x.to(dtype), x.long()])


if __name__ == "__main__":
    absltest.main()
