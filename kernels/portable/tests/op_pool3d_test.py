"""Tests of the poolings of volumes, and of adaptive max pooling of images."""

from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

MAX_POOLINGS: tuple[tuple[Any, ...], ...] = (
    ([2], [], [0], [1], False),
    ([3, 2, 2], [2, 1, 2], [1, 0, 1], [1], False),
    ([3], [2], [1], [1], True),
    ([2, 3, 2], [3], [1], [2, 1, 1], True),
    ([1], [2], [0], [1], True),
    ([2], [1], [1], [2], False),
    ([2], [], [2], [1], False),
    ([0], [], [0], [1], False),
    ([2, 2], [], [0], [1], False),
    ([9], [], [0], [1], False),
)
AVERAGE_POOLINGS: tuple[tuple[Any, ...], ...] = (
    ([2], [], [0], False, True, None),
    ([3, 2, 2], [2, 1, 2], [1, 0, 1], False, False, None),
    ([3], [2], [1], True, True, None),
    ([3], [2], [1], True, False, None),
    ([2, 3, 2], [3], [1], True, True, 5),
    ([1], [2], [0], True, True, -3),
    ([2], [1], [0], False, True, 0),
    ([2], [1], [2], False, True, None),
    ([2, 2], [], [0], False, True, None),
)
SHAPES: tuple[tuple[int, ...], ...] = (
    (2, 3, 4, 5, 6),
    (3, 4, 6, 5),
    (0, 3, 4, 4, 4),
    (2, 0, 4, 4, 4),
    (2, 3, 0, 4, 4),
    (4, 4, 4),
    (1, 1, 1, 1),
)


class OpPool3dTest(op_tester.OpTest):
    def test_max(self) -> None:
        pool = self.op("aten::max_pool3d_with_indices.out")
        for dtype in op_tester.ALL_DTYPES:
            for pooling in MAX_POOLINGS:
                pool.judge(op_tester.make_tensor((2, 3, 4, 5, 6), dtype), *pooling, exact=True)
            values = op_tester.special_values(dtype)
            x = (values[:, None] + values).reshape(1, 1, len(values), -1).repeat(1, 2, 1, 1)
            pool.judge(x, [2], [1], exact=True)
        for shape in SHAPES:
            for pooling in MAX_POOLINGS:
                pool.judge(op_tester.make_tensor(shape, torch.float32), *pooling, exact=True)
        x = torch.ones(1, 4, 4, 4)
        pool.check_rejected(x, [2], outs=[x, x.int()])
        pool.check_rejected(x, [2], outs=[x.double(), x.long()])
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            pool.check_rejected(x.to(dtype), [2], outs=[x.to(dtype), x.long()])

    def test_average(self) -> None:
        pool = self.op("aten::avg_pool3d.out")
        for dtype in op_tester.ALL_DTYPES:
            for pooling in AVERAGE_POOLINGS:
                x = op_tester.make_tensor((2, 3, 4, 5, 6), dtype)
                pool.judge(x, *pooling, rounding=op_tester.Rounding.SUM)
            pool.judge(op_tester.make_tensor((3, 4, 6, 5), dtype), [2], out_dtype=torch.float64)
        for shape in SHAPES:
            for pooling in AVERAGE_POOLINGS:
                pool.judge(op_tester.make_tensor(shape, torch.float32), *pooling)

    def test_adaptive_average(self) -> None:
        pool = self.op("aten::_adaptive_avg_pool3d.out")
        for dtype in op_tester.ALL_DTYPES:
            for shape in SHAPES[:2]:
                for size in ([1, 1, 1], [2, 3, 4], [4, 5, 6], [7, 11, 9], [5], [-1, 2, 2]):
                    pool.judge(op_tester.make_tensor(shape, dtype), size, rounding=op_tester.Rounding.SUM)
        for shape in (*SHAPES, (0, 8, 6, 6), (0, 3, 4, 4, 4), (2, 0, 4, 4, 4), (3, 4, 0, 4)):
            pool.judge(op_tester.make_tensor(shape, torch.float32), [2, 3, 2])
        pool.check(torch.ones(3, 4, 4, 4), [0, 2, 2])

    def test_adaptive_max(self) -> None:
        pools = {2: self.op("aten::adaptive_max_pool2d.out"), 3: self.op("aten::adaptive_max_pool3d.out")}
        for count, pool in pools.items():
            sizes = ([1], [2, 3, 4], [7, 11, 9])
            for dtype in op_tester.ALL_DTYPES:
                for shape in SHAPES[:2]:
                    for size in sizes:
                        x = op_tester.make_tensor(shape[-count - 2 :], dtype)
                        pool.judge(x, (size * 3)[:count], exact=True)
                        pool.judge(x[0], (size * 3)[:count], exact=True)
                values = op_tester.special_values(dtype)
                x = (values[:, None] + values).reshape(1, *(1,) * (count - 2), len(values), -1)
                pool.judge(x, (1, 3, 4)[-count:], exact=True)
            for shape in (*SHAPES, (0, 2, 4, 4), (2, 0, 4, 4), (2, 2, 0, 4), (4, 4)):
                pool.judge(op_tester.make_tensor(shape, torch.float32), [2] * count, exact=True)
            x = torch.ones((1,) + (4,) * count)
            pool.check_rejected(x, [2] * count, outs=[x, x.int()])
            pool.check_rejected(x, [2] * count, outs=[x.double(), x.long()])

    def test_fractional(self) -> None:
        pool = self.op("aten::fractional_max_pool2d.output")
        for dtype in op_tester.ALL_DTYPES:
            for images in ((2, 3, 9, 8), (3, 6, 11)):
                for kernel, size in (([2, 2], [3, 4]), ([1, 3], [5, 6]), ([3, 2], [1, 1]), ([2, 2], [5, 7])):
                    samples = op_tester.make_tensor((2 if len(images) == 4 else 1, 3, 2), dtype, low=0, high=0.99)
                    pool.judge(op_tester.make_tensor(images, dtype), kernel, size, samples, exact=True)
        x, samples = op_tester.make_tensor((1, 3, 4, 4), torch.float32), torch.full((1, 3, 2), 0.5)
        for empty in ((0, 3, 4, 4), (1, 0, 4, 4), (4, 4), (1, 3, 4, 0)):
            pool.judge(torch.ones(empty), [2, 2], [2, 2], samples)
        for kernel, size in (([2, 2], [4, 2]), ([5, 2], [1, 1]), ([0, 2], [2, 2]), ([2, 2], [0, 2]), ([2], [2])):
            pool.check_rejected(x, kernel, size, samples, outs=[x, x.long()])
        pool.check_rejected(x, [2, 2], [2, 2], samples[:, :2], outs=[x, x.long()])
        pool.check_rejected(x, [2, 2], [2, 2], samples, outs=[x, x.int()])

    def test_dim_orders(self) -> None:
        for order in ((0, 2, 3, 4, 1), (4, 3, 2, 1, 0), (0, 1, 2, 3, 4)):
            x = op_tester.make_tensor((2, 3, 4, 5, 6), torch.float32, dim_order=order)
            for name, arguments in (
                ("max_pool3d_with_indices", ([3, 2, 2], [2], [1])),
                ("avg_pool3d", ([3, 2, 2], [2], [1])),
                ("_adaptive_avg_pool3d", ([3, 2, 2],)),
                ("adaptive_max_pool3d", ([3, 2, 2],)),
            ):
                self.op(f"aten::{name}.out").check(x, *arguments, out_dim_order=order, static=True)


if __name__ == "__main__":
    absltest.main()
