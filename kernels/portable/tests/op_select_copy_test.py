"""Tests of op_select_copy.cpp: select_copy.int_out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpSelectCopyTest(op_tester.OpTest):
    def test_shapes_and_dim_orders(self) -> None:
        tester = self.op("aten::select_copy.int_out")
        for shape in op_tester.SHAPES:
            for order in op_tester.dim_orders(len(shape)):
                x = op_tester.make_tensor(shape, torch.float32, dim_order=order)
                for dim in range(-len(shape) - 1, len(shape) + 1):
                    size = x.size(dim) if -len(shape) <= dim < len(shape) else 1
                    for index in (0, -1, size - 1, -size, size, -size - 1, 1 << 62, -1 << 63):
                        tester.judge(x, dim, index, exact=True)

    def test_dtypes(self) -> None:
        self.check_copy(self.op("aten::select_copy.int_out"), 1, 2)

    def test_short_rows(self) -> None:
        # Rows of some sizes in bytes have functions of their own.
        tester = self.op("aten::select_copy.int_out")
        for dtype in (torch.int8, torch.int32, torch.complex128):
            for width in (*range(1, 35), 64, 65, 128, 255, 256, 257):
                x = op_tester.make_tensor((3, 5, 2, width), dtype)
                for dim in (0, 1, 2):
                    tester.judge(x, dim, 1, exact=True)


if __name__ == "__main__":
    absltest.main()
