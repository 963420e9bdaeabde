"""Tests of op_t_copy.cpp: t_copy.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpTCopyTest(op_tester.OpTest):
    def test_shapes_and_dim_orders(self) -> None:
        tester = self.op("aten::t_copy.out")
        for shape in (*op_tester.SHAPES, (0, 4), (1, 6)):
            for order in op_tester.dim_orders(len(shape)):
                tester.judge(op_tester.make_tensor(shape, torch.float32, dim_order=order), exact=True)

    def test_dtypes(self) -> None:
        self.check_copy(self.op("aten::t_copy.out"))


if __name__ == "__main__":
    absltest.main()
