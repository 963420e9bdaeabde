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
        self.check_copy(self.op("aten::select_copy.int_out"), 1, 2)


if __name__ == "__main__":
    absltest.main()
