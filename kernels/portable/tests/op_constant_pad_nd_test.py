"""Tests of op_constant_pad_nd.cpp: constant_pad_nd.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpConstantPadNdTest(op_tester.OpTest):
    def test_out(self) -> None:
        for pad in ([], [1, 2], [1, 2, 3, 0], [-1, 1, 0, -2]):
            self.check_unary(self.op("aten::constant_pad_nd.out"), pad, 3, dtypes=op_tester.MOVABLE_DTYPES)

    def test_pads(self) -> None:
        constant_pad_nd = self.op("aten::constant_pad_nd.out")
        sizes = (-4, -3, -2, -1, 0, 1, 4)
        for shape, before, after in itertools.product(((3,), (2, 3), (3, 0), (1,), ()), sizes, sizes):
            x = op_tester.make_tensor(shape, torch.float32)
            constant_pad_nd.judge(x, [before, after], 1.5, exact=True)
            constant_pad_nd.judge(x, [before, after, after, before], 1.5, exact=True)
            constant_pad_nd.judge(x, [before], 1.5, exact=True)

    def test_huge_pads(self) -> None:
        constant_pad_nd = self.op("aten::constant_pad_nd.out")
        for pad in ([0, 2**62], [2**62, 1], [-(2**62), 2**62], [2**63 - 1, 2**63 - 1]):
            constant_pad_nd.judge(torch.ones(0, 3, 3), pad, 1.0)

    def test_values(self) -> None:
        constant_pad_nd = self.op("aten::constant_pad_nd.out")
        values = (0, True, 1.5, -1, 300, 2**31, 2**62, 1e5, 1e39, float("inf"))
        for dtype, value, pad in itertools.product(op_tester.MOVABLE_DTYPES, values, ([1, 0], [-1, 0], [0, 0])):
            constant_pad_nd.judge(op_tester.make_tensor((2, 3), dtype), pad, value, exact=True)
            constant_pad_nd.judge(op_tester.make_tensor((0, 3), dtype), pad, value, exact=True)

    def test_dim_orders(self) -> None:
        constant_pad_nd = self.op("aten::constant_pad_nd.out")
        for order, out_order in itertools.product(op_tester.dim_orders(4), repeat=2):
            x = op_tester.make_tensor((2, 3, 4, 5), torch.int32, dim_order=order)
            for pad in ([1, 2, 0, 3], [1, -2, 3, -1, 1, 1, -1, 1]):
                constant_pad_nd.check(x, pad, 7, out_dim_order=out_order, static=True, exact=True)


if __name__ == "__main__":
    absltest.main()
