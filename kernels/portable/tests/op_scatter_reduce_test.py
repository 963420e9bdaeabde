"""Tests of scatter_reduce and index_reduce."""

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


class OpScatterReduceTest(op_tester.OpTest):
    def test_scatter_reduce(self) -> None:
        reduce = self.op("aten::scatter_reduce.two_out")
        generator = torch.Generator().manual_seed(0)
        for shape, include_self in itertools.product(((5,), (3, 5), (2, 3, 4)), (True, False)):
            for dim, name in itertools.product(range(len(shape)), REDUCTIONS):
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                    sizes = [*shape[:dim], 9, *shape[dim + 1 :]]
                    index = torch.randint(shape[dim], sizes, generator=generator)
                    src = op_tester.make_tensor(sizes, torch.float32)
                    reduce.check(x, dim, index, src, name, include_self=include_self, out_dim_order=order)
                    smaller = index.narrow(0, 0, 1)
                    reduce.check(x, dim - len(shape), smaller, src, name, include_self=include_self)

    def test_dtypes(self) -> None:
        scatter, index_reduce = self.op("aten::scatter_reduce.two_out"), self.op("aten::index_reduce.out")
        index = torch.tensor([[2, 0, 2], [1, 1, 1]])
        for dtype, name, include_self in itertools.product(op_tester.ALL_DTYPES, REDUCTIONS, (True, False)):
            x, rounding = op_tester.make_tensor((2, 3), dtype), op_tester.Rounding.SUM
            for other in op_tester.ALL_DTYPES if include_self else (dtype,):
                scatter.judge(x, 1, index, x.to(other), name, include_self=include_self, rounding=rounding)
                if dtype != torch.bool:  # PyTorch reduces Bools of some shapes only.
                    index_reduce.judge(x, 1, index[0], x.to(other), name, include_self=include_self, rounding=rounding)
            values = op_tester.special_values(dtype)
            pairs = torch.stack([values[:, None].expand(-1, len(values)), values.expand(len(values), -1)])
            zeros = torch.zeros_like(pairs, dtype=torch.int64)
            scatter.judge(pairs, 0, zeros, pairs.flip(0), name, include_self=include_self, rounding=rounding)
        bools = torch.ones((2, 3), dtype=torch.bool)
        index_reduce.check_rejected(bools, 1, index[0], bools, "prod", outs=[bools])
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((2, 3), dtype=dtype)
            scatter.check_rejected(x, 1, index, x, "sum", outs=[x])
            index_reduce.check_rejected(x, 1, index[0], x, "prod", outs=[x])

    def test_index_reduce(self) -> None:
        reduce = self.op("aten::index_reduce.out")
        for shape, include_self in itertools.product(((5,), (3, 5), (2, 3, 4)), (True, False)):
            for dim, name in itertools.product(range(len(shape)), REDUCTIONS):
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                    for index in (torch.tensor([0, 1, 1, 0, 1]), torch.tensor([1]), torch.tensor([0, 0]).int()):
                        src = op_tester.make_tensor([*shape[:dim], len(index), *shape[dim + 1 :]], torch.float32)
                        reduce.judge(x, dim, index, src, name, include_self=include_self, out_dim_order=order)

    def test_edges(self) -> None:
        scatter, index_reduce = self.op("aten::scatter_reduce.two_out"), self.op("aten::index_reduce.out")
        x = torch.ones(2, 3)
        index: Any
        for index in ([[2]], [[-1]], [[3]], [[0, 1, 0, 1]], [0], [[[0]]], [[]], [[0.5]]):
            for name in ("sum", "mean"):
                scatter.judge(x, 1, torch.tensor(index), x, name)
        for line in ([2, 0, 1], [0, 1], [-1, 0, 1], [3, 0, 1], []):
            index_reduce.judge(x, 1, torch.tensor(line, dtype=torch.int64), x, "amax")
        index_reduce.judge(torch.ones(()), 0, torch.tensor(0), torch.ones(()), "prod")
        scatter.judge(torch.ones(()), 0, torch.tensor(0), torch.ones(()), "prod")
        scatter.judge(torch.ones(0, 3), 0, torch.zeros(0, 3).long(), torch.ones(0, 3), "mean")
        index_reduce.judge(torch.ones(0, 3), 1, torch.tensor([0, 1]), torch.ones(0, 2), "mean")
        for name in ("median", "", "multiply"):
            scatter.check_rejected(x, 1, torch.zeros(2, 3).long(), x, name, outs=[x])
            index_reduce.check_rejected(x, 1, torch.zeros(3).long(), x, name, outs=[x])
        for dim in (2, -3):
            scatter.judge(x, dim, torch.zeros(2, 3).long(), x, "sum")
            index_reduce.judge(x, dim, torch.zeros(3).long(), x, "prod")


if __name__ == "__main__":
    absltest.main()
