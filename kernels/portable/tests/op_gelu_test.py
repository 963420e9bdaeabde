"""Tests of op_gelu.cpp: gelu.out."""

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpGeluTest(op_tester.OpTest):
    def test_out(self) -> None:
        gelu = self.op("aten::gelu.out")
        # For infinity and very large numbers, PyTorch's result is infinity or NaN, depending on the number of elements.
        self.check_unary(gelu, special=False)
        for dtype in op_tester.FLOAT_DTYPES:
            values = op_tester.special_values(dtype)
            gelu.check(values[~(values.double() > 1e30)])  # 1e30 is infinity in half precision

    def test_out_with_tanh(self) -> None:
        self.check_unary(self.op("aten::gelu.out"), approximate="tanh")

    def test_unknown_approximation_is_rejected(self) -> None:
        self.op("aten::gelu.out").check_rejected(torch.ones(3), approximate="sigmoid")


if __name__ == "__main__":
    absltest.main()
