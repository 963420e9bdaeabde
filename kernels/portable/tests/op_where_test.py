"""Tests of op_where.cpp: where.self_out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpWhereTest(op_tester.OpTest):
    def test_dtypes(self) -> None:
        where = self.op("aten::where.self_out")
        condition = op_tester.make_tensor((2, 3), torch.bool)
        for a, b in itertools.product(op_tester.ALL_DTYPES, op_tester.ALL_DTYPES):
            for shape in ((2, 3), ()):
                where.judge(condition, op_tester.make_tensor((2, 3), a), op_tester.make_tensor(shape, b))
            x = op_tester.make_tensor((2, 3), a, low=0)
            where.judge_out_dtype(condition, x, x, out_dtype=b)
            where.judge(op_tester.make_tensor((2, 3), b), x, x)

    def test_shapes_and_dim_orders(self) -> None:
        where = self.op("aten::where.self_out")
        for a_shape, b_shape in op_tester.BROADCAST_SHAPES:
            for condition_shape in (a_shape, b_shape, ()):
                for order in op_tester.dim_orders(len(a_shape)):
                    condition = op_tester.make_tensor(condition_shape, torch.bool)
                    x = op_tester.make_tensor(a_shape, torch.float32, dim_order=order)
                    where.check(condition, x, op_tester.make_tensor(b_shape, torch.float32), exact=True)

    def test_rejected(self) -> None:
        where = self.op("aten::where.self_out")
        x = torch.ones(2, 3)
        where.check_rejected(torch.ones(2, dtype=torch.bool), x, x)
        where.check_rejected(x, x, x)
        where.check_rejected(x.bool(), x.to(torch.complex64), x, outs=[x])


if __name__ == "__main__":
    absltest.main()
