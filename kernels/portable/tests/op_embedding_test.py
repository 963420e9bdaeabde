"""Tests of op_embedding.cpp: embedding.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpEmbeddingTest(op_tester.OpTest):
    def test_shapes_and_dim_orders(self) -> None:
        tester = self.op("aten::embedding.out")
        for rows, width in ((10, 4), (10, 1), (10, 0), (1, 300)):
            for weight_order in op_tester.dim_orders(2):
                weight = op_tester.make_tensor((rows, width), torch.float32, dim_order=weight_order)
                for shape in op_tester.SHAPES:
                    for order in op_tester.dim_orders(len(shape)):
                        for dtype in (torch.int64, torch.int32):
                            indices = op_tester.make_tensor(shape, dtype, dim_order=order, low=0, high=rows - 1)
                            tester.check(weight, indices, exact=True)
                        tester.check(weight, indices, out_dim_order=(len(shape), *order), static=True, exact=True)

    def test_dtypes(self) -> None:
        tester = self.op("aten::embedding.out")
        indices = torch.tensor([[0, 2], [1, 0]])
        for dtype in op_tester.MOVABLE_DTYPES:
            weight = op_tester.make_tensor((3, 5), dtype)
            tester.check(weight, indices, exact=True)
            tester.judge(weight, indices, out_dtype=torch.float32, exact=True)

    def test_other_arguments_do_not_matter(self) -> None:
        weight = op_tester.make_tensor((3, 5), torch.float32)
        self.op("aten::embedding.out").check(weight, torch.tensor([1, 2]), 2, True, True, exact=True)

    def test_rejected(self) -> None:
        tester = self.op("aten::embedding.out")
        weight = op_tester.make_tensor((3, 5), torch.float32)
        for index in (3, -1, -4, (1 << 63) - 1, -1 << 63):
            tester.check_rejected(weight, torch.tensor([0, index]))
        tester.check_rejected(torch.empty((0, 5)), torch.tensor([0]))
        tester.check_rejected(torch.empty((3, 0)), torch.tensor([3]))
        for dtype in (torch.int16, torch.uint8, torch.bool, torch.float32):
            tester.check_rejected(weight, torch.ones((2,), dtype=dtype))
        for other in (weight[0], weight[None], torch.tensor(1.0)):
            tester.check_rejected(other, torch.tensor([0]))
        tester.check_rejected(weight, torch.tensor([0]), outs=[torch.empty((1, 2, 5))])


if __name__ == "__main__":
    absltest.main()
