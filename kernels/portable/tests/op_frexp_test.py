"""Tests of op_frexp.cpp."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpFrexpTest(op_tester.OpTest):
    def test_out(self) -> None:
        frexp = self.op("aten::frexp.Tensor_out")
        for dtype in op_tester.ALL_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    frexp.judge(op_tester.make_tensor(shape, dtype, dim_order=order), exact=True)
            frexp.judge(op_tester.special_values(dtype), exact=True)
            # The mantissas have the memory of the input.
            frexp.judge(op_tester.special_values(dtype), exact=True, static=True, aliased=True)
        frexp.check(torch.tensor([1e-40, -3e-45, 2.0**-126, 0.75, 1024]), exact=True)


if __name__ == "__main__":
    absltest.main()
