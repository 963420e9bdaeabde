"""Tests of op_to_copy.cpp: _to_copy.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpToCopyTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_unary(self.op("aten::_to_copy.out"), dtypes=op_tester.MOVABLE_DTYPES)

    def test_special_values(self) -> None:
        to_copy = self.op("aten::_to_copy.out")
        for dtype in op_tester.ALL_DTYPES:
            for out_dtype in (*op_tester.FLOAT_DTYPES, torch.bool):
                to_copy.check(op_tester.special_values(dtype), out_dtype=out_dtype, exact=True)
        for dtype in op_tester.INT_DTYPES:
            for out_dtype in op_tester.INT_DTYPES:
                to_copy.check(op_tester.special_values(dtype), out_dtype=out_dtype, exact=True)

    def test_fractions_are_cut_off(self) -> None:
        to_copy = self.op("aten::_to_copy.out")
        for dtype in op_tester.FLOAT_DTYPES:
            for out_dtype in (torch.int64, torch.int32, torch.int16, torch.int8):
                to_copy.check(op_tester.make_tensor((17, 33), dtype), out_dtype=out_dtype, exact=True)

    def test_memory_formats(self) -> None:
        to_copy = self.op("aten::_to_copy.out")
        for shape in op_tester.SHAPES:
            x = op_tester.make_tensor(shape, torch.float32)
            for memory_format in (torch.contiguous_format, torch.preserve_format, torch.channels_last):
                to_copy.judge(x, memory_format=memory_format, out_dtype=torch.float16, exact=True)


if __name__ == "__main__":
    absltest.main()
