"""Tests of op_clone.cpp: clone.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpCloneTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::clone.out"), dtypes=op_tester.MOVABLE_DTYPES)

    def test_memory_formats(self) -> None:
        clone = self.op("aten::clone.out")
        for shape in op_tester.SHAPES:
            x = op_tester.make_tensor(shape, torch.float32)
            for memory_format in (torch.contiguous_format, torch.preserve_format, torch.channels_last):
                clone.judge(x, memory_format=memory_format, exact=True)

    def test_values_are_the_same(self) -> None:
        for dtype in op_tester.MOVABLE_DTYPES:
            self.op("aten::clone.out").check(op_tester.special_values(dtype), exact=True)


if __name__ == "__main__":
    absltest.main()
