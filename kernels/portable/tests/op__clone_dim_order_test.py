"""Tests of op__clone_dim_order.cpp: dim_order_ops::_clone_dim_order.out."""

import torch
from absl.testing import absltest

from kernels.portable.tests import dim_order_case
from kernels.testing import op_tester


class OpCloneDimOrderTest(dim_order_case.DimOrderCase):
    name = "dim_order_ops::_clone_dim_order.out"

    def test_other_dtype_is_rejected(self) -> None:
        x = op_tester.make_tensor((2, 3), torch.float32)
        self.make_tester().check_rejected(x, outs=[x.double()])


if __name__ == "__main__":
    absltest.main()
