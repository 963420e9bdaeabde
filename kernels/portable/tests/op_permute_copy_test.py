"""Tests of op_permute_copy.cpp: permute_copy.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpPermuteCopyTest(op_tester.OpTest):
    def test_orders(self) -> None:
        permute = self.op("aten::permute_copy.out")
        for shape in op_tester.SHAPES:
            for dims in itertools.permutations(range(len(shape))):
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                    permute.check(x, dims, exact=True)
                    permute.check(x, [dim - len(shape) for dim in dims], exact=True, out_dim_order=order, static=True)

    def test_dtypes(self) -> None:
        permute = self.op("aten::permute_copy.out")
        for dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((3, 4, 5), dtype)
            permute.check(x, [2, 0, 1], exact=True)
            for out_dtype in op_tester.ALL_DTYPES:
                permute.judge(x, [2, 0, 1], out_dtype=out_dtype, exact=True)

    def test_rejected(self) -> None:
        permute = self.op("aten::permute_copy.out")
        x = torch.ones(2, 3)
        for dims in ([0], [0, 0], [0, 2], [1, -1], [0, 1, 2], []):
            permute.check_rejected(x, dims)


if __name__ == "__main__":
    absltest.main()
