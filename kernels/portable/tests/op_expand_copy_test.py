"""Tests of op_expand_copy.cpp: expand_copy.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpExpandCopyTest(op_tester.OpTest):
    def test_shapes_and_dim_orders(self) -> None:
        tester = self.op("aten::expand_copy.out")
        for shape in op_tester.SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                kept = [-1] * len(shape)
                doubled = [2 if size == 1 else size for size in shape]
                for size in (kept, shape, doubled, [3, *kept], [0, *doubled], [-1, *kept], kept[1:], [-2, *kept[1:]]):
                    tester.judge(x, size, exact=True)
                tester.judge(x, [5, *doubled], implicit=True, exact=True)

    def test_sizes(self) -> None:
        tester = self.op("aten::expand_copy.out")
        x = op_tester.make_tensor((3, 1), torch.float32)
        for size in ([3, 700], [700, 3, 4], [3, 0], [0, 1], [2, 1], [3, -1], [-1, 4], [], [3], [6, 1], [1, 1]):
            tester.judge(x, size, exact=True)
        for size in ([1 << 31, 3, 1], [1 << 40, 3, 1], [1] * 15 + [3, 1]):
            tester.check_rejected(x, size, outs=[x])

    def test_dtypes(self) -> None:
        self.check_copy(self.op("aten::expand_copy.out"), [2, 3, 5])


if __name__ == "__main__":
    absltest.main()
