"""Tests of op_unsqueeze_copy.cpp: unsqueeze_copy.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpUnsqueezeCopyTest(op_tester.OpTest):
    def test_shapes_and_dim_orders(self) -> None:
        tester = self.op("aten::unsqueeze_copy.out")
        for shape in op_tester.SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for dim in range(-len(shape) - 2, len(shape) + 2):
                    for out_order in op_tester.dim_orders(len(shape) + 1):
                        tester.judge(x, dim, out_dim_order=out_order, exact=True)

    def test_too_many_dimensions(self) -> None:
        x = torch.ones((1,) * 16)
        self.op("aten::unsqueeze_copy.out").check_rejected(x, 0, outs=[x])

    def test_dtypes(self) -> None:
        tester = self.op("aten::unsqueeze_copy.out")
        for dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), dtype)
            tester.check(x, 1, out_dim_order=[2, 1, 0], static=True, exact=True)
            tester.judge(x, 1, out_dtype=torch.float32, exact=True)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((3, 5), dtype=dtype)
            tester.check_rejected(x, 1, outs=tester.expect(x, 1))


if __name__ == "__main__":
    absltest.main()
