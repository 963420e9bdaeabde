"""Tests of avg_pool2d.out and _adaptive_avg_pool2d.out."""

from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

POOLINGS: tuple[tuple[Any, ...], ...] = (
    ([2], [], [0], False, True, None),
    ([3, 2], [2, 1], [1, 0], False, False, None),
    ([3], [2], [1], True, True, None),
    ([3], [2], [1], True, False, None),
    ([2, 3], [3], [1], True, True, 5),
    ([1], [2], [0], True, True, -3),
    ([5, 6], [5], [2, 3], True, False, None),
    ([2], [1], [0], False, True, 0),
    ([2], [1], [2], False, True, None),
    ([0], [], [0], False, True, None),
    ([2], [0], [0], False, True, None),
)


class OpAvgPool2dTest(op_tester.OpTest):
    def test_poolings(self) -> None:
        pool = self.op("aten::avg_pool2d.out")
        for dtype in op_tester.ALL_DTYPES:
            for pooling in POOLINGS:
                pool.judge(op_tester.make_tensor((2, 3, 8, 7), dtype), *pooling, rounding=op_tester.Rounding.SUM)
                pool.judge(op_tester.make_tensor((3, 6, 9), dtype), *pooling, rounding=op_tester.Rounding.SUM)
            pool.judge(op_tester.make_tensor((3, 6, 9), dtype), [2], out_dtype=torch.float64)

    def test_dim_orders(self) -> None:
        pool = self.op("aten::avg_pool2d.out")
        adaptive = self.op("aten::_adaptive_avg_pool2d.out")
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((2, 3, 8, 7), torch.float32, dim_order=order)
            pool.check(x, [3, 2], [2], [1], out_dim_order=order, static=True)
            adaptive.check(x, [3, 2], out_dim_order=order, static=True)

    def test_shapes(self) -> None:
        shapes = ((0, 3, 4, 4), (2, 0, 4, 4), (2, 3, 0, 4), (2, 3, 4, 0), (4, 4), (1, 2, 3, 4, 4), (1, 1, 1))
        for shape in shapes:
            self.op("aten::_adaptive_avg_pool2d.out").judge(torch.ones(shape), [2, 3])
            for pooling in POOLINGS:
                self.op("aten::avg_pool2d.out").judge(torch.ones(shape), *pooling)

    def test_least_integer(self) -> None:
        """Tests that the quotient of the smallest integer and -1 wraps around. PyTorch traps."""
        least = torch.iinfo(torch.int64).min
        x = torch.tensor([[[least, 7]]])
        (result,) = self.op("aten::avg_pool2d.out").run(x, [1], [], [0], False, True, -1, outs=[torch.empty_like(x)])
        self.assertEqual(result.tolist(), [[[least, -7]]])

    def test_adaptive(self) -> None:
        pool = self.op("aten::_adaptive_avg_pool2d.out")
        for dtype in op_tester.ALL_DTYPES:
            for shape in ((2, 3, 8, 7), (3, 6, 9)):
                for size in ([1, 1], [2, 3], [8, 7], [11, 20], [5], [-1, 2]):
                    pool.judge(op_tester.make_tensor(shape, dtype), size, rounding=op_tester.Rounding.SUM)
            pool.judge(op_tester.make_tensor((3, 6, 9), dtype), [2, 2], out_dtype=torch.float64)
        pool.check(torch.ones(3, 6, 9), [0, 2])

    def test_gradients(self) -> None:
        backward = self.op("aten::avg_pool2d_backward.grad_input")
        for dtype in (*op_tester.ALL_DTYPES,):
            for shape in ((2, 3, 8, 7), (3, 6, 9)):
                for pooling in POOLINGS[:7]:
                    kernel, stride, *others = pooling
                    x = op_tester.make_tensor(shape, dtype)
                    pooled = torch.nn.functional.avg_pool2d(x.double(), kernel, stride or kernel, *others)
                    gradient = op_tester.make_tensor(pooled.shape, dtype)
                    arguments = (kernel, stride or kernel, *others)
                    backward.judge(gradient, x, *arguments, rounding=op_tester.Rounding.SUM)
        x, arguments = torch.ones(2, 4, 4), ([2], [2], [0], False, True, None)
        for other in ((2, 2, 3), (2, 3, 2), (1, 2, 2), (1, 2, 2, 2), (2, 2)):
            backward.check_rejected(torch.ones(other), x, *arguments, outs=[x])
        backward.check_rejected(torch.ones(2, 2, 2), x, *arguments[:-1], 0, outs=[x])

    def test_adaptive_gradients(self) -> None:
        backward = self.op("aten::_adaptive_avg_pool2d_backward.out")
        for dtype in op_tester.ALL_DTYPES:
            for shape in ((2, 3, 8, 7), (3, 6, 9)):
                for size in ((1, 1), (2, 3), (8, 7), (11, 20)):
                    gradient = op_tester.make_tensor((*shape[:-2], *size), dtype)
                    backward.judge(gradient, op_tester.make_tensor(shape, dtype), rounding=op_tester.Rounding.SUM)
        x = torch.ones(2, 4, 4)
        for other in ((2, 0, 3), (3, 2, 2), (1, 2, 2, 2), (2, 2)):
            backward.check_rejected(torch.ones(other), x, outs=[x])


if __name__ == "__main__":
    absltest.main()
