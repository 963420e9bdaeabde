"""Tests of the activation functions with parameters."""

import itertools
import math

from absl.testing import absltest

from kernels.testing import op_tester


class OpActivationsTest(op_tester.OpTest):
    def test_elu(self) -> None:
        for arguments in ((), (2,), (0.5, 1.5, 3), (-1, 2, 0.5)):
            self.check_unary(self.op("aten::elu.out"), *arguments)

    def test_leaky_relu(self) -> None:
        for arguments in ((), (0.2,), (-3,), (0,)):
            self.check_unary(self.op("aten::leaky_relu.out"), *arguments)

    def test_factors_that_do_not_fit(self) -> None:
        for dtype, factor in itertools.product(op_tester.FLOAT_DTYPES, (1e30, -1e39, 1e300, -math.inf, 2**63 - 1)):
            x = op_tester.make_tensor((5,), dtype)
            self.op("aten::leaky_relu.out").judge(x, factor)
            for factors in ((factor,), (1, factor), (1, 1, factor)):
                self.op("aten::elu.out").judge(x, *factors)


if __name__ == "__main__":
    absltest.main()
