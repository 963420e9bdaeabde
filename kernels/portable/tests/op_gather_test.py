"""Tests of op_gather.cpp: gather.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpGatherTest(op_tester.OpTest):
    def test_dtypes(self) -> None:
        self.check_copy(self.op("aten::gather.out"), 1, torch.tensor([[4, 0, 1], [2, 2, 2]]))

    def test_shapes_and_dim_orders(self) -> None:
        gather = self.op("aten::gather.out")
        generator = torch.Generator().manual_seed(0)
        for shape in ((5,), (3, 5), (2, 3, 4), (2, 3, 4, 5)):
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for dim in range(-len(shape), len(shape)):
                    for smaller in (0, 1):
                        sizes = [size - smaller for size in shape]
                        sizes[dim] = 7
                        index = torch.randint(0, shape[dim], sizes, generator=generator)
                        gather.check(x, dim, op_tester.with_dim_order(index, order), exact=True)
                        gather.check(x, dim, index.int(), out_dim_order=order, static=True, exact=True)

    def test_many(self) -> None:
        index = torch.randint(0, 1000, (3, 700), generator=torch.Generator().manual_seed(0))
        self.op("aten::gather.out").check(op_tester.make_tensor((3, 1000), torch.float32), 1, index, exact=True)

    def test_0_dim_and_empty(self) -> None:
        gather = self.op("aten::gather.out")
        zero, one = torch.tensor(0), torch.tensor([0])
        for x in (torch.tensor(3.0), torch.tensor([3.0])):
            for index in (zero, one, torch.tensor([0, 0]), torch.zeros(0, dtype=torch.int64), one[None]):
                for dim in (0, -1, 1):
                    gather.judge(x, dim, index)
        gather.judge(torch.ones(0, 3), 0, torch.zeros((0, 3), dtype=torch.int64))
        gather.judge(torch.ones(0, 3), 0, torch.zeros((1, 3), dtype=torch.int64))

    def test_rejected(self) -> None:
        gather = self.op("aten::gather.out")
        x = torch.ones(2, 3)
        for index in ([[2]], [[-1]], [[0, 0, 0, 0]], [0], [[[0]]], [[1 << 40]], [[0.0]], [[True]]):
            gather.check_rejected(x, 0, torch.tensor(index))
        for dim in (2, -3):
            gather.check_rejected(x, dim, torch.tensor([[0]]))


if __name__ == "__main__":
    absltest.main()
