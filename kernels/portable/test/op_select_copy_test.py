"""Tests of op_select_copy.cpp: select_copy.int_out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpSelectCopyTest(op_tester.OpTest):
    def test_shapes_and_dim_orders(self) -> None:
        tester = self.op("aten::select_copy.int_out")
        for shape in op_tester.SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for dim in range(-len(shape) - 1, len(shape) + 1):
                    size = x.size(dim) if -len(shape) <= dim < len(shape) else 1
                    for index in (0, -1, size - 1, -size, size, -size - 1, 1 << 62, -1 << 63):
                        tester.judge(x, dim, index, exact=True)

    def test_dtypes(self) -> None:
        tester = self.op("aten::select_copy.int_out")
        for dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), dtype)
            tester.check(x, 1, 2, out_dim_order=[0], static=True, exact=True)
            tester.judge(x, 1, 2, out_dtype=torch.float32, exact=True)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((3, 5), dtype=dtype)
            tester.check_rejected(x, 1, 2, outs=tester.expect(x, 1, 2))


if __name__ == "__main__":
    absltest.main()
