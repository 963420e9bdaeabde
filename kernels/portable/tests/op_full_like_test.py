"""Tests of op_full_like.cpp: full_like.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester

VALUES = (0, 3, -3, 2.75, True, 300, 1e6, float("inf"), float("nan"))


class OpFullLikeTest(op_tester.OpTest):
    def test_out(self) -> None:
        for value in VALUES:
            self.check_unary(self.op("aten::full_like.out"), value, special=False)

    def test_memory_format(self) -> None:
        x = torch.ones(2, 3, 4, 5)
        self.op("aten::full_like.out").check(x, 7, memory_format=torch.contiguous_format)


if __name__ == "__main__":
    absltest.main()
