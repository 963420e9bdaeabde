"""Tests of op_cat.cpp: cat.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpCatTest(op_tester.OpTest):
    def test_shapes_and_dim_orders(self) -> None:
        cat = self.op("aten::cat.out")
        for shape in op_tester.SHAPES:
            for dim in range(-len(shape) - 1, len(shape) + 1):
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                    longer = list(shape)
                    if shape:
                        longer[dim % len(shape)] += 3
                    y = op_tester.make_tensor(longer, torch.float32)
                    cat.judge([x], dim, exact=True)
                    cat.judge([x, y, x], dim, exact=True, out_dim_order=order, static=True)

    def test_dtypes(self) -> None:
        cat = self.op("aten::cat.out")
        for a, b in itertools.product(op_tester.MOVABLE_DTYPES, op_tester.MOVABLE_DTYPES):
            tensors = [op_tester.make_tensor((2, 3), a), op_tester.make_tensor((4, 3), b)]
            cat.judge(tensors, exact=True)
            cat.judge([op_tester.make_tensor((2, 3), a, low=0)], out_dtype=b, exact=True)

    def test_empty_tensors_of_one_dimension_are_skipped(self) -> None:
        cat = self.op("aten::cat.out")
        x = op_tester.make_tensor((2, 3), torch.float32)
        empty = torch.empty(0)
        cat.check([empty, x, empty], 1)
        cat.check([empty, empty])
        cat.check([empty.double(), x])

    def test_empty_tensors_of_any_shape_are_left_out(self) -> None:
        cat = self.op("aten::cat.out")
        x = op_tester.make_tensor((2, 3), torch.float32)
        for shape in ((2, 0, 3), (0, 5), (5, 0), (0, 0, 0)):
            empty = torch.empty(shape)
            for tensors in ([empty, x], [x, empty, x]):
                present = torch.cat([tensor for tensor in tensors if tensor.numel()])
                (result,) = cat.run(tensors, 0, outs=[present])
                self.assertTrue(torch.equal(result, present))

    def test_rejected(self) -> None:
        cat = self.op("aten::cat.out")
        x = op_tester.make_tensor((2, 3), torch.float32)
        for tensors in ([], [x, x[0]], [x, x.T.contiguous()]):
            cat.check_rejected(tensors, 0)
        cat.check_rejected([x], 2)
        cat.check_rejected([torch.ones(2, dtype=torch.complex64), x[0, :2].clone()], outs=[torch.empty(4)])


if __name__ == "__main__":
    absltest.main()
