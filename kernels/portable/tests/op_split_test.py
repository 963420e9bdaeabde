"""Tests of the operators that split a tensor or take a part of it."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpSplitTest(op_tester.OpTest):
    def test_dtypes(self) -> None:
        for dtype in op_tester.MOVABLE_DTYPES:
            x = op_tester.make_tensor((6, 4), dtype)
            self.op("aten::split_copy.Tensor_out").check(x, 4, 0, exact=True)
            self.op("aten::split_with_sizes_copy.out").check(x, [1, 3], 1, exact=True)
            self.op("aten::unbind_copy.int_out").check(x, -2, exact=True)
            self.op("aten::narrow_copy.out").check(x, 0, 1, 3, exact=True)

    def test_split(self) -> None:
        split = self.op("aten::split_copy.Tensor_out")
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order)
            for dim in range(-4, 4):
                for size in (1, 2, 3, 100):
                    split.check(x, size, dim, out_dim_order=order, exact=True)
        split.check(torch.ones(0, 3), 0, 0)
        split.check(torch.ones(0, 3), 2, 0)
        one = [torch.ones(2)]
        for arguments in ((0, 0), (-1, 0), (2, 1), (1, 0), (2, -2)):
            split.check_rejected(torch.ones(2), *arguments, outs=one)
        split.check_rejected(torch.ones(3), 2, 0, outs=[torch.ones(2), torch.ones(2)], static=True)
        split.check_rejected(torch.tensor(1.0), 1, 0, outs=one)

    def test_split_with_sizes(self) -> None:
        split = self.op("aten::split_with_sizes_copy.out")
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order)
            for dim, size in zip(range(-4, 4), x.shape * 2, strict=True):
                for sizes in ([1, size - 1], [size], [0, size, 0]):
                    split.check(x, sizes, dim, out_dim_order=order, exact=True)
        for sizes, dim in (([1, 2], 0), ([1, 0], 0), ([-1, 3], 0), ([1, 1], 1), ([2], 0), ([1 << 62, 1 << 62], 0)):
            split.check_rejected(torch.ones(2), sizes, dim, outs=[torch.ones(1), torch.ones(1)])
        split.check_rejected(torch.tensor(1.0), [1], 0, outs=[torch.ones(1)])

    def test_unbind(self) -> None:
        unbind = self.op("aten::unbind_copy.int_out")
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((2, 3, 4, 5), torch.float32, dim_order=order)
            for dim in range(-4, 4):
                unbind.check(x, dim, exact=True)
        for dim in (1, -2):
            unbind.check_rejected(torch.ones(2), dim, outs=[torch.ones(()), torch.ones(())])
        unbind.check_rejected(torch.ones(2), 0, outs=[torch.ones(())])
        unbind.check_rejected(torch.tensor(1.0), 0, outs=[torch.ones(())])

    def test_narrow(self) -> None:
        narrow = self.op("aten::narrow_copy.out")
        for order in op_tester.dim_orders(2):
            x = op_tester.make_tensor((4, 6), torch.float32, dim_order=order)
            for dim in range(-3, 3):
                for start in (0, 2, 4, 6, 7, -1, -6, -7):
                    for length in (0, 1, 3, 6, -1):
                        narrow.judge(x, dim, start, length, exact=True)


if __name__ == "__main__":
    absltest.main()
