"""Tests of op_max_pool2d_with_indices.cpp: max_pool2d_with_indices.out."""

from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

POOLINGS: tuple[tuple[Any, ...], ...] = (
    ([2], [], [0], [1], False),
    ([3, 2], [2, 1], [1, 0], [1], False),
    ([3], [2], [1], [1], True),
    ([2, 3], [3], [1], [2, 1], True),
    ([1], [2], [0], [1], True),
    ([2], [1], [1], [3], False),
    ([5, 6], [5], [2, 3], [1], True),
)


class OpMaxPool2dTest(op_tester.OpTest):
    def test_poolings(self) -> None:
        pool = self.op("aten::max_pool2d_with_indices.out")
        for dtype in op_tester.ALL_DTYPES:
            for pooling in POOLINGS:
                pool.judge(op_tester.make_tensor((2, 3, 8, 7), dtype), *pooling, exact=True)
                pool.judge(op_tester.make_tensor((3, 6, 9), dtype), *pooling, exact=True)

    def test_dim_orders(self) -> None:
        pool = self.op("aten::max_pool2d_with_indices.out")
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((2, 3, 8, 7), torch.float32, dim_order=order)
            pool.check(x, [3, 2], [2], [1], out_dim_order=order, static=True, exact=True)
            pool.check(x, [3, 2], [2], [1], exact=True)

    def test_special_values(self) -> None:
        pool = self.op("aten::max_pool2d_with_indices.out")
        for dtype in op_tester.ALL_DTYPES:
            values = op_tester.special_values(dtype)
            pool.judge((values[:, None] + values).reshape(1, len(values), -1), [2], [1], exact=True)
        pool.check(torch.full((1, 3, 3), float("-inf")), [2], [1])

    def test_shapes(self) -> None:
        pool = self.op("aten::max_pool2d_with_indices.out")
        for shape in (
            (0, 3, 4, 4),
            (2, 0, 4, 4),
            (2, 3, 0, 4),
            (2, 3, 4, 0),
            (4, 4),
            (1, 2, 3, 4, 4),
            (1, 1, 1),
            (2, 3, 2, 2),
        ):
            for pooling in POOLINGS:
                pool.judge(torch.ones(shape), *pooling)

    def test_rejected(self) -> None:
        pool = self.op("aten::max_pool2d_with_indices.out")
        x = torch.ones(1, 4, 4)
        for pooling in (
            ([0], [], [0], [1], False),
            ([2], [0], [0], [1], False),
            ([2], [], [-1], [1], False),
            ([2], [], [2], [1], False),
            ([2], [], [0], [0], False),
            ([2, 2, 2], [], [0], [1], False),
            ([], [], [0], [1], False),
            ([1 << 40], [], [0], [1], False),
        ):
            pool.check_rejected(x, *pooling, outs=[x, x.long()])
        pool.check_rejected(x, [2], outs=[x, x.int()])
        pool.check_rejected(x, [2], outs=[x.double(), x.long()])
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            pool.check_rejected(x.to(dtype), [2], outs=[x.to(dtype), x.long()])


if __name__ == "__main__":
    absltest.main()
