"""Tests of op_scalar_tensor.cpp: scalar_tensor.out."""

import functools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

VALUES = (0, 3, -3, 2.75, True, 300, 1e6, float("inf"), float("nan"))


class OpScalarTensorTest(op_tester.OpTest):
    def test_out(self) -> None:
        for dtype in op_tester.MOVABLE_DTYPES:
            scalar_tensor = self.op(
                "aten::scalar_tensor.out",
                schema="aten::scalar_tensor.out(Scalar s, *, Tensor(a!) out) -> Tensor(a!)",
                reference=functools.partial(torch.scalar_tensor, dtype=dtype),
            )
            for value in VALUES:
                scalar_tensor.judge(value, out_dtype=dtype)
            scalar_tensor.check(1, static=True)
            scalar_tensor.check_rejected(1, outs=[torch.empty(1, dtype=dtype)])


if __name__ == "__main__":
    absltest.main()
