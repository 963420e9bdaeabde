"""Tests of op_transpose_copy.cpp: transpose_copy.int_out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpTransposeCopyTest(op_tester.OpTest):
    def test_shapes_and_dim_orders(self) -> None:
        tester = self.op("aten::transpose_copy.int_out")
        for shape in op_tester.SHAPES:
            dims = range(-len(shape) - 1, len(shape) + 1)
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for dim0, dim1 in itertools.product(dims, dims):
                    tester.judge(x, dim0, dim1, exact=True)

    def test_dtypes(self) -> None:
        self.check_copy(self.op("aten::transpose_copy.int_out"), 0, -1)


if __name__ == "__main__":
    absltest.main()
