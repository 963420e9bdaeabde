"""Tests of op_view_copy.cpp: view_copy.out and view_copy.dtype_out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpViewCopyTest(op_tester.OpTest):
    def test_shapes_and_dim_orders(self) -> None:
        tester = self.op("aten::view_copy.out")
        sizes: tuple[list[int], ...] = (
            [],
            [1],
            [-1],
            [120],
            [2, 60],
            [60, -1],
            [5, 4, 3, 2],
            [4, 5, 6],
            [-1, 3, 1, 2],
            [3, 5],
            [15],
            [5, 3],
            [0],
            [0, 3],
            [0, -1],
            [0, 0, 0],
            [1, 1, 1, 1, 1],
            [4, 1],
            [2, 1, 2],
            [-1, -1],
            [-2],
            [7, -1],
            [6, 2, -1],
        )
        for shape in op_tester.SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for size in sizes:
                    for out_order in op_tester.dim_orders(len(size)):
                        tester.judge(x, size, out_dim_order=out_order, exact=True)

    def test_impossible_sizes(self) -> None:
        x = op_tester.make_tensor((2, 3), torch.float32)
        for size in ([1 << 32, 1 << 32], [1 << 62, 1 << 62, -1], [(1 << 63) - 1], [-1 << 63], [1] * 15 + [2, 3]):
            self.op("aten::view_copy.out").check_rejected(x, size, outs=[x])

    def test_dtypes(self) -> None:
        self.check_copy(self.op("aten::view_copy.out"), [5, 3])

    def test_other_dtype(self) -> None:
        tester = self.op("aten::view_copy.dtype_out")
        for dtype, other in itertools.product(op_tester.MOVABLE_DTYPES, repeat=2):
            if torch.bool in (dtype, other) and dtype != other:
                continue  # the bytes of other numbers are no Bools
            for shape in ((2, 16), (3,), (), (0, 16), (2, 0), (2, 1, 3, 8)):
                for order in op_tester.dim_orders(len(shape)) if dtype.itemsize == other.itemsize else [None]:
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    tester.judge(x, other, exact=True)
        x = op_tester.make_tensor((2, 3), torch.float32)
        tester.check_rejected(x, torch.int32, outs=[x])
        tester.check_rejected(x, torch.float64, outs=[x.double()])


if __name__ == "__main__":
    absltest.main()
