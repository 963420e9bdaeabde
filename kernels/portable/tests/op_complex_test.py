"""Tests of the operators that only support complex numbers: _conj_physical.out, view_as_real_copy.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpComplexTest(op_tester.OpTest):
    def test_conj_physical(self) -> None:
        conj = self.op("aten::_conj_physical.out")
        self.check_unary(conj, exact=True, dtypes=op_tester.COMPLEX_DTYPES)
        for dtype in op_tester.ALL_DTYPES:
            x = torch.ones((2, 3), dtype=dtype)
            conj.check_rejected(x, outs=[x])

    def test_view_as_real_copy(self) -> None:
        view = self.op("aten::view_as_real_copy.out")
        for dtype in op_tester.COMPLEX_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    view.check(x, exact=True)
                    view.check(x, out_dim_order=[len(shape), *order], static=True, exact=True)
            x = op_tester.make_tensor((2, 3), dtype)
            for out_dtype in op_tester.MOVABLE_DTYPES:
                view.judge_out_dtype(x, out_dtype=out_dtype)
            view.check_rejected(x, outs=[torch.ones((2, 3, 2, 1))])
        for dtype in (*op_tester.ALL_DTYPES, *op_tester.UNSIGNED_DTYPES):
            view.check_rejected(torch.ones(3, dtype=dtype), outs=[torch.ones(3, 2)])
        most = torch.ones((1,) * 16, dtype=torch.complex64)  # the largest number of dimensions of a tensor
        view.check_rejected(most, outs=[torch.ones(2)])


if __name__ == "__main__":
    absltest.main()
