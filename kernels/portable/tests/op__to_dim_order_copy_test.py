"""Tests of op__to_dim_order_copy.cpp: dim_order_ops::_to_dim_order_copy.out."""

from absl.testing import absltest

from kernels.portable.tests import dim_order_case
from kernels.testing import op_tester


class OpToDimOrderCopyTest(dim_order_case.DimOrderCase):
    name = "dim_order_ops::_to_dim_order_copy.out"

    def test_dtypes(self) -> None:
        tester = self.make_tester()
        for dtype in op_tester.MOVABLE_DTYPES:
            for out_dtype in op_tester.MOVABLE_DTYPES:
                # The conversion of negative values to uint8 is not defined.
                x = op_tester.make_tensor((2, 3, 4, 5), dtype, low=0)
                tester.check(x, out_dtype=out_dtype, exact=True)
                order = [0, 2, 3, 1]
                tester.check(x, dim_order=order, out_dtype=out_dtype, out_dim_order=order, exact=True)


if __name__ == "__main__":
    absltest.main()
