"""Tests of op_mean.cpp: mean.out, mean.dtype_out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpMeanTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_reduction(self.op("aten::mean.out"))

    def test_out_dtype_argument(self) -> None:
        mean = self.op("aten::mean.out")
        for in_dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), in_dtype)
            for dtype in op_tester.ALL_DTYPES:
                mean.judge(x, [1], dtype=dtype)
                mean.judge(x, None, dtype=torch.float32, out_dtype=dtype)

    def test_many_elements(self) -> None:
        mean = self.op("aten::mean.out")
        x = torch.rand((1000, 999), generator=torch.Generator().manual_seed(0))
        for dim in ([0], [1], None):
            mean.check(x, dim)
        mean.check(x.half(), None)

    def test_dtype_out(self) -> None:
        mean = self.op("aten::mean.dtype_out")
        for in_dtype in op_tester.ALL_DTYPES:
            for dtype in (None, *op_tester.ALL_DTYPES):
                mean.judge(op_tester.make_tensor((3, 5), in_dtype), dtype=dtype)


if __name__ == "__main__":
    absltest.main()
