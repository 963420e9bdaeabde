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
        self.check_copy(self.op("aten::unsqueeze_copy.out"), 1)


if __name__ == "__main__":
    absltest.main()
