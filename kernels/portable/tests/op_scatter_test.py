"""Tests of the operators that copy a tensor with some elements replaced, and index_select."""

from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester


def index_of(shape: tuple[int, ...], dim: int, sizes: list[int]) -> torch.Tensor:
    """An index with distinct positions along `dim`, because the result for repeated positions is not defined."""
    generator = torch.Generator().manual_seed(sum(sizes))
    order = torch.rand([*sizes[:dim], shape[dim], *sizes[dim + 1 :]], generator=generator).argsort(dim)
    return order.narrow(dim, 0, sizes[dim]).contiguous()


class OpScatterTest(op_tester.OpTest):
    def test_scatter(self) -> None:
        src, value, add = map(self.op, ("aten::scatter.src_out", "aten::scatter.value_out", "aten::scatter_add.out"))
        for shape in ((5,), (3, 5), (2, 3, 4), (2, 3, 4, 5)):
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for dim in range(len(shape)):
                    for smaller in (0, 1):
                        index = index_of(shape, dim, [size - smaller for size in shape])
                        src.check(x, dim, index, -x, out_dim_order=order, exact=True)
                        src.check(x, dim - len(shape), index.int(), op_tester.with_dim_order(-x, order), exact=True)
                        value.check(x, dim, op_tester.with_dim_order(index, order), 7, exact=True)
                        add.check(x, dim, index % 2, x.contiguous())

    def test_scatter_dtypes(self) -> None:
        src, value, add = map(self.op, ("aten::scatter.src_out", "aten::scatter.value_out", "aten::scatter_add.out"))
        index = torch.tensor([[2, 0], [1, 0]])
        for dtype in op_tester.ALL_DTYPES:
            x = op_tester.make_tensor((2, 3), dtype)
            for other in op_tester.ALL_DTYPES:
                src.judge(x, 1, index, x.to(other))
                add.judge(x, 1, index, x.to(other))
                src.judge(x, 1, index, x, out_dtype=other)
                add.judge(x, 1, index, x, out_dtype=other)
                value.judge(x, 1, index, 3, out_dtype=other)
            for scalar in (-3, 2.75, True, 300, 1e6, float("nan")):
                value.judge(x, 1, index, scalar)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((2, 3), dtype=dtype)
            src.check(x, 1, index, 2 * x, exact=True)
            add.check_rejected(x, 1, index, x, outs=[x])
            value.check_rejected(x, 1, index, 1, outs=[x])

    def test_scatter_indices(self) -> None:
        src, value, add = map(self.op, ("aten::scatter.src_out", "aten::scatter.value_out", "aten::scatter_add.out"))
        x = torch.ones(2, 3)
        index: Any
        for index in (
            [[2]],
            [[-1]],
            [[0, 1, 0, 1]],
            [0],
            [[[0]]],
            [[1 << 40]],
            [[0.0]],
            [[True]],
            [[0], [0], [0]],
            [],
            [[]],
        ):
            for dim in (0, 1, 2):
                positions = torch.tensor(index)
                src.judge(x, dim, positions, 2 * x)
                add.judge(x, dim, positions, 2 * x)
                value.judge(x, dim, positions, 5)
        src.judge(x, 0, torch.zeros((2, 3), dtype=torch.int64), torch.ones(1, 3))
        for zero in (torch.tensor(0), torch.tensor([0])):
            src.judge(torch.tensor(1.0), 0, zero, torch.tensor(2.0))
            value.judge(torch.tensor(1.0), 0, zero, 2)

    def test_index_select(self) -> None:
        select = self.op("aten::index_select.out")
        self.check_copy(select, 1, torch.tensor([4, 0, 0, 2]))
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order)
            for dim in range(-5, 5):
                for positions in ([1, 0, 1], [], [2], [-1], [1 << 40]):
                    index = torch.tensor(positions, dtype=torch.int64)
                    select.judge(x, dim, index, out_dim_order=order, exact=True)
            select.check(x, 1, torch.tensor([2, 1], dtype=torch.int32), exact=True)
        for x in (torch.tensor(3.0), torch.ones(2), torch.ones(0), torch.ones(0, 2)):
            for nested in (0, [0], [0, 0], [[0]], [0.0], [True]):
                select.judge(x, 0, torch.tensor(nested))

    def test_select_and_slice_scatter(self) -> None:
        select, cut = self.op("aten::select_scatter.out"), self.op("aten::slice_scatter.out")
        for order in op_tester.dim_orders(3):
            x = op_tester.make_tensor((3, 4, 5), torch.float32, dim_order=order)
            for dim in range(-4, 4):
                for index in (0, 2, -1, 5, -6):
                    for source in (torch.zeros(3, 4), torch.zeros(3, 5), torch.zeros(4, 5), torch.zeros(1, 5)):
                        select.judge(x, source, dim, index, out_dim_order=order, exact=True)
                for bounds in (
                    (None, None, 1),
                    (0, 2, 1),
                    (-2, None, 1),
                    (0, 99, 2),
                    (3, 1, 1),
                    (0, 3, 0),
                    (1, 2, 1 << 62),
                ):
                    for source in (
                        torch.zeros(2, 4, 5),
                        torch.zeros(3, 2, 5),
                        x * 2,
                        torch.zeros(0, 4, 5),
                        torch.zeros(1, 4, 5),
                    ):
                        cut.judge(x, source, dim, *bounds, exact=True)
        for a in op_tester.MOVABLE_DTYPES:
            for b in op_tester.MOVABLE_DTYPES:
                x, y = op_tester.make_tensor((2, 3), a, low=0), op_tester.make_tensor((3,), b, low=0)
                select.judge(x, y, 0, 1)
                cut.judge(x, y[None], 0, 1)
                select.judge(x, x[0], 0, 1, out_dtype=b)
                cut.judge(x, x[:1], 0, 1, out_dtype=b)


if __name__ == "__main__":
    absltest.main()
