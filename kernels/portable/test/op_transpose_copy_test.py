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
        tester = self.op("aten::transpose_copy.int_out")
        for dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 5), dtype)
            tester.check(x, 0, -1, out_dim_order=[1, 0], static=True, exact=True)
            tester.judge(x, 0, -1, out_dtype=torch.float32, exact=True)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((3, 5), dtype=dtype)
            tester.check_rejected(x, 0, -1, outs=tester.expect(x, 0, -1))


if __name__ == "__main__":
    absltest.main()
