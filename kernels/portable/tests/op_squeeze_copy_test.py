"""Tests of op_squeeze_copy.cpp: squeeze_copy.dim_out, squeeze_copy.dims_out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpSqueezeCopyTest(op_tester.OpTest):
    def test_dims_out(self) -> None:
        tester = self.op("aten::squeeze_copy.dims_out")
        for shape in (*op_tester.SHAPES, (1, 1, 1), (1, 2, 1, 3, 1)):
            rank = len(shape)
            for order in op_tester.dim_orders(rank):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for dims in ([], [0], [-1], [0, 0], [0, -1], [rank - 1, 1], [rank], [-rank - 1], list(range(rank))):
                    tester.judge(x, dims, exact=True)

    def test_dim_out(self) -> None:
        tester = self.op("aten::squeeze_copy.dim_out")
        for shape in (*op_tester.SHAPES, (1, 1, 1), (1, 2, 1, 3, 1)):
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for dim in range(-len(shape) - 1, len(shape) + 1):
                    tester.judge(x, dim, exact=True)

    def test_dtypes(self) -> None:
        self.check_copy(self.op("aten::squeeze_copy.dims_out"), [0, 1])


if __name__ == "__main__":
    absltest.main()
