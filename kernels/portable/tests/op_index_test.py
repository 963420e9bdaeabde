"""Tests of op_index.cpp: index.Tensor_out."""

import torch
from absl.testing import absltest

from kernels.portable.tests.index_cases import INDICES, NO_INDICES, long, mask
from kernels.testing import op_tester


class OpIndexTest(op_tester.OpTest):
    def test_indices(self) -> None:
        tester = self.op("aten::index.Tensor_out")
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((3, 4, 5, 2), torch.float32, dim_order=order)
            for indices in INDICES:
                tester.judge(x, indices, exact=True)

    def test_no_indices(self) -> None:
        tester = self.op("aten::index.Tensor_out")
        for order in op_tester.dim_orders(4):
            x = op_tester.make_tensor((3, 4, 5, 2), torch.float32, dim_order=order)
            for indices in NO_INDICES:
                (result,) = tester.run(x, indices, outs=[x])
                self.assertTrue(torch.equal(result, x))
        tester.check_rejected(x, [None] * 5, outs=[x])

    def test_adjacent_positions(self) -> None:
        """Slices, and padding that mirrors the border, in the last dimension and in another one."""
        tester = self.op("aten::index.Tensor_out")
        mirrored = torch.tensor([*range(3, 0, -1), *range(700), *range(698, 600, -1)])
        for order in op_tester.dim_orders(3):
            x = op_tester.make_tensor((2, 9, 700), torch.float32, dim_order=order)
            for positions in (torch.arange(700), torch.arange(-690, -1), mirrored, torch.arange(5, 700, 2)):
                tester.check(x, [None, None, positions], exact=True)
            for channels in (torch.arange(9), torch.arange(2, 7), torch.arange(8, -1, -1)):
                tester.check(x, [None, channels], exact=True)
            tester.check(x, [torch.tensor([[1], [0]]), None, torch.arange(690)], exact=True)

    def test_byte_masks(self) -> None:
        x = op_tester.make_tensor((3, 4, 5, 2), torch.float32)
        self.op("aten::index.Tensor_out").check(x, [mask(3, 4).byte() * 3], exact=True)

    def test_out_dim_orders(self) -> None:
        tester = self.op("aten::index.Tensor_out")
        x = op_tester.make_tensor((3, 4, 5, 2), torch.float32)
        for order in op_tester.dim_orders(5):
            tester.check(x, [None, long([[0, 1], [2, 3]])], out_dim_order=order, static=True, exact=True)

    def test_empty_tensors(self) -> None:
        tester = self.op("aten::index.Tensor_out")
        for shape in ((0,), (0, 3), (3, 0), ()):
            x = op_tester.make_tensor(shape, torch.float32)
            for indices in ([long([0])], [long([])], [long([7])], [None, long([0])], [long([0]), long([0])]):
                tester.judge(x, indices, exact=True)

    def test_dtypes(self) -> None:
        tester = self.op("aten::index.Tensor_out")
        indices = [long([2, 0])]
        for dtype in op_tester.MOVABLE_DTYPES:
            x = op_tester.make_tensor((3, 5), dtype)
            tester.check(x, indices, exact=True)
            for out_dtype in op_tester.MOVABLE_DTYPES:
                tester.judge(x, indices, out_dtype=out_dtype, exact=True)

    def test_out_shape_is_judged(self) -> None:
        x = torch.ones((3, 5))
        self.op("aten::index.Tensor_out").check_rejected(x, [long([2, 0])], outs=[torch.ones(10)])


if __name__ == "__main__":
    absltest.main()
