"""The common part of the tests of operators with a dim_order argument."""

import torch

from kernels.testing import op_tester
from kernels.testing.references import reference


class DimOrderCase(op_tester.OpTest):
    """Tests of the operator `name`."""

    name: str

    def make_tester(self) -> op_tester.OpTester:
        return self.op(self.name, **reference(self.name))

    def test_shapes_and_dim_orders(self) -> None:
        tester = self.make_tester()
        for dtype in op_tester.MOVABLE_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    tester.check(x, out_dim_order=order, exact=True)
                    tester.check(x, dim_order=list(range(len(shape))), static=True, exact=True)
            # The second shape is an image for which the copy processes many pixels at a time.
            for shape in ((2, 3, 4, 5), (1, 3, 5, 41)):
                x = op_tester.make_tensor(shape, dtype)
                tester.check(x, dim_order=[0, 2, 3, 1], out_dim_order=[0, 2, 3, 1], exact=True)
            tester.check(op_tester.special_values(dtype), non_blocking=True, exact=True)

    def test_rejected(self) -> None:
        tester = self.make_tester()
        x = op_tester.make_tensor((2, 3, 4, 5), torch.float32)
        for dim_order in (
            [],
            [0, 1, 2],
            [0, 1, 2, 3, 4],
            [0, 1, 2, 4],
            [0, 1, 2, -1],
            [0, 1, 1, 2],
            [1 << 32, 1, 2, 3],
        ):
            tester.check_rejected(x, dim_order=dim_order, outs=[x])
        tester.check_rejected(x, outs=[x[0]])

    def test_other_dim_order_than_outs_is_rejected(self) -> None:
        tester = self.make_tester()
        x = op_tester.make_tensor((2, 3, 4, 5), torch.float32)
        tester.check_rejected(x, dim_order=[0, 2, 3, 1], outs=[x])
        tester.check_rejected(x, dim_order=[0, 1, 2, 3], outs=[x], out_dim_order=[0, 2, 3, 1])
