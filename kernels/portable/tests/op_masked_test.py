"""Tests of the operators that take a mask."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpMaskedTest(op_tester.OpTest):
    def test_masked_fill(self) -> None:
        fill = self.op("aten::masked_fill.Scalar_out")
        for dtype in op_tester.ALL_DTYPES:
            mask = op_tester.make_tensor((3, 1), torch.bool)
            for value in (0, 3, -3, 2.75, True, 300, 1e6, float("-inf"), float("nan")):
                fill.judge(op_tester.make_tensor((2, 3, 4), dtype), mask, value, exact=True)
            for mask_dtype in op_tester.ALL_DTYPES:
                fill.judge(op_tester.make_tensor((3,), dtype), op_tester.make_tensor((3,), mask_dtype, low=0), 1)
                fill.judge(op_tester.make_tensor((3,), dtype), torch.ones(3).bool(), 1, out_dtype=mask_dtype)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            x = torch.ones((2, 3), dtype=dtype)
            fill.check_rejected(x, x.bool(), 1, outs=[x])

    def test_masked_fill_broadcasts(self) -> None:
        fill = self.op("aten::masked_fill.Scalar_out")
        for shape, mask_shape in op_tester.BROADCAST_SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                fill.check(x, op_tester.make_tensor(mask_shape, torch.bool), 7, exact=True)
        for shape, mask_shape in op_tester.NOT_BROADCAST_SHAPES:
            fill.check_rejected(torch.ones(shape), torch.ones(mask_shape, dtype=torch.bool), 7)

    def test_nonzero(self) -> None:
        nonzero = self.op("aten::nonzero.out")
        for dtype in op_tester.ALL_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    nonzero.check(op_tester.make_tensor(shape, dtype, dim_order=order, low=-1, high=1))
            nonzero.check(op_tester.special_values(dtype))
            nonzero.judge(op_tester.make_tensor((3,), dtype), out_dtype=torch.int32)
        nonzero.check(torch.ones(600))
        nonzero.check_rejected(torch.ones(3), outs=[torch.ones((2, 1), dtype=torch.int64)], static=True)
        for dtype in op_tester.UNSUPPORTED_DTYPES:
            nonzero.check_rejected(torch.ones(3, dtype=dtype), outs=[torch.ones((3, 1), dtype=torch.int64)])

    def test_masked_select(self) -> None:
        select = self.op("aten::masked_select.out")
        for dtype in op_tester.MOVABLE_DTYPES:
            x, mask = op_tester.make_tensor((2, 3, 4), dtype), op_tester.make_tensor((3, 1), torch.bool)
            select.check(x, mask, exact=True)
            select.judge(x, mask, out_dtype=torch.float32)
        for shape, mask_shape in op_tester.BROADCAST_SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for mask_order in op_tester.dim_orders(len(mask_shape)):
                    mask = op_tester.make_tensor(mask_shape, torch.bool, dim_order=mask_order)
                    select.check(x, mask, exact=True)
        for shape, mask_shape in op_tester.NOT_BROADCAST_SHAPES:
            select.check_rejected(torch.ones(shape), torch.ones(mask_shape, dtype=torch.bool))
        select.check_rejected(x, torch.ones((), dtype=torch.int64))

    def test_masked_scatter(self) -> None:
        scatter = self.op("aten::masked_scatter.out")
        for dtype in op_tester.MOVABLE_DTYPES:
            x, mask = op_tester.make_tensor((2, 3, 4), dtype), op_tester.make_tensor((3, 1), torch.bool)
            for other in op_tester.MOVABLE_DTYPES:
                scatter.judge(x, mask, op_tester.make_tensor((30,), other), exact=True)
                scatter.judge(x, mask, x, out_dtype=other, exact=True)
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order)
            mask = op_tester.make_tensor((2, 3, 4, 5), torch.bool, dim_order=order)
            scatter.check(x, mask, -x, out_dim_order=order, exact=True)
            scatter.check(x, mask, -x, exact=True)
        scatter.check(torch.ones(3), torch.zeros(2, 1).bool(), torch.ones(0))
        scatter.check_rejected(torch.ones(3), torch.ones(3).bool(), torch.ones(2))
        scatter.check_rejected(torch.ones(3), torch.ones(2).bool(), torch.ones(9))
        scatter.check_rejected(torch.ones(3), torch.ones(3), torch.ones(3))

    def test_repeat_interleave(self) -> None:
        repeat = self.op("aten::repeat_interleave.Tensor_out")
        for dtype in op_tester.ALL_DTYPES:
            repeat.judge(torch.tensor([2, 0, 3, 1]).to(dtype))
        for counts in ([], [0], [300, 2], [-1, 3], [[1]], 2):
            repeat.judge(torch.tensor(counts, dtype=torch.int64))
        for size in (5, 4, 6, -1):
            repeat.judge(torch.tensor([2, 3]), output_size=size)
        repeat.check_rejected(torch.tensor([1 << 62, 1 << 62]), outs=[torch.ones(3).long()])


if __name__ == "__main__":
    absltest.main()
