"""Tests of op_mul.cpp: mul.out, mul.Scalar_out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

DTYPES = (*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES)


class OpMulTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_binary(self.op("aten::mul.out"), dtypes=DTYPES)

    def test_out_of_rows(self) -> None:
        """Short rows, many of which fit into a block: rows that repeat, rows of one element, rows in other orders."""
        dtypes = (torch.float32, torch.float64, torch.int8, torch.bfloat16, torch.complex64, torch.complex128)
        shapes = (
            ((4, 65, 1), (4, 1, 16)),
            ((2, 33, 40, 1), (2, 33, 1, 17)),
            ((3, 700, 3), (3, 700, 1)),
            ((3, 700, 3), (3,)),
            ((2, 130, 49), (130, 1)),
            ((90, 2), (90, 1)),
            ((7, 1, 31), (7, 5, 31)),
        )
        for dtype, other, (one_shape, other_shape) in itertools.product(dtypes, (None, torch.float16), shapes):
            one = op_tester.make_tensor(one_shape, dtype)
            two = op_tester.make_tensor(other_shape, other or dtype)
            self.op("aten::mul.out").check(one, two)
            self.op("aten::mul.out").check(two, one)
        images = op_tester.make_tensor((2, 21, 9, 11), torch.float32)
        gates = op_tester.make_tensor((2, 21, 1, 1), torch.float32)
        for order in (torch.contiguous_format, torch.channels_last):
            self.op("aten::mul.out").check(images.to(memory_format=order), gates)
            self.op("aten::mul.out").check(images.to(memory_format=order), images.mT.contiguous().mT)

    def test_scalar_out(self) -> None:
        for scalar in (3, 1.5, True):
            self.check_unary(self.op("aten::mul.Scalar_out"), scalar, dtypes=DTYPES)


if __name__ == "__main__":
    absltest.main()
