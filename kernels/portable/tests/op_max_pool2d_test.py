"""Tests of max_pool2d_with_indices.out and of its gradient, max_pool2d_with_indices_backward.grad_input."""

import itertools
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

    def test_channels_last(self) -> None:
        pool = self.op("aten::max_pool2d_with_indices.out")
        for dtype in op_tester.ALL_DTYPES:
            values = op_tester.special_values(dtype)
            x = (values[:, None] + values).reshape(1, 1, len(values), -1).expand(2, 300, -1, -1)
            x = op_tester.with_dim_order(x, (0, 2, 3, 1))
            for pooling in POOLINGS:
                pool.judge(x, *pooling, exact=True)

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

    def pooled(self, x: torch.Tensor, pooling: tuple[Any, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        """A gradient of the result, and the indices. The gradient has small integers, so that sums are exact."""
        result, indices = torch.ops.aten.max_pool2d_with_indices(x, *pooling)
        return op_tester.make_tensor(result.shape, x.dtype, low=-3, high=3).round(), indices

    def test_gradients(self) -> None:
        backward = self.op("aten::max_pool2d_with_indices_backward.grad_input")
        for dtype in op_tester.FLOAT_DTYPES:
            for pooling in POOLINGS:
                for shape in ((2, 3, 8, 7), (3, 6, 9), (0, 3, 8, 7)):
                    x = op_tester.make_tensor(shape, dtype)
                    gradient, indices = self.pooled(x, pooling)
                    backward.check(gradient, x, *pooling, indices, exact=True)

    def test_gradients_dim_orders(self) -> None:
        backward = self.op("aten::max_pool2d_with_indices_backward.grad_input")
        x = op_tester.make_tensor((2, 3, 8, 7), torch.float32)
        gradient, indices = self.pooled(x, POOLINGS[2])
        for orders in itertools.product(op_tester.dim_orders(4), repeat=4):
            gradient, x, indices = map(op_tester.with_dim_order, (gradient, x, indices), orders)
            # PyTorch requires a common dim order. The kernel supports all dim orders.
            (expected,) = backward.expect(*(t.contiguous() for t in (gradient, x)), *POOLINGS[2], indices.contiguous())
            (result,) = backward.run(
                gradient, x, *POOLINGS[2], indices, outs=[expected], out_dim_order=orders[3], static=True
            )
            torch.testing.assert_close(result, expected, rtol=0, atol=0)

    def test_gradients_rejected(self) -> None:
        backward = self.op("aten::max_pool2d_with_indices_backward.grad_input")
        x, pooling = torch.ones(2, 4, 4), ([2], [2], [0], [1], False)
        gradient, indices = torch.ones(2, 2, 2), torch.zeros(2, 2, 2).long()
        backward.check(gradient, x, *pooling, indices)
        for position in (16, -2, 1 << 62, -(1 << 62)):
            backward.check_rejected(gradient, x, *pooling, torch.full_like(indices, position), outs=[x])
        for shape in ((2, 2, 3), (2, 3, 2), (1, 2, 2), (1, 2, 2, 2), (2, 2)):
            backward.check_rejected(torch.ones(shape), x, *pooling, indices, outs=[x])
            backward.check_rejected(gradient, x, *pooling, torch.zeros(shape).long(), outs=[x])
        backward.check_rejected(gradient, x, *pooling, indices.int(), outs=[x])
        backward.check_rejected(gradient.double(), x, *pooling, indices, outs=[x])
        backward.check_rejected(gradient, x, *pooling, indices, outs=[x.double()])
        backward.check_rejected(gradient, x, *pooling, indices, outs=[torch.ones(2, 4, 5)], static=True)
        for dtype in (*op_tester.INT_DTYPES, torch.bool, *op_tester.UNSUPPORTED_DTYPES):
            backward.check_rejected(gradient.to(dtype), x.to(dtype), *pooling, indices, outs=[x.to(dtype)])

    def test_no_position(self) -> None:
        backward = self.op("aten::max_pool2d_with_indices_backward.grad_input")
        outs = [torch.ones(1, 2, 2)]
        (result,) = backward.run(outs[0], outs[0], [1], [], [0], [1], False, torch.full((1, 2, 2), -1), outs=outs)
        torch.testing.assert_close(result, torch.zeros(1, 2, 2))


if __name__ == "__main__":
    absltest.main()
