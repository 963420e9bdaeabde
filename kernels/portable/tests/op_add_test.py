"""Tests of op_add.cpp: add.out, add.Scalar_out."""

from absl.testing import absltest

from kernels.testing import op_tester

DTYPES = (*op_tester.ALL_DTYPES, *op_tester.COMPLEX_DTYPES)


class OpAddTest(op_tester.OpTest):
    def test_out(self) -> None:
        self.check_binary(self.op("aten::add.out"), dtypes=DTYPES)

    def test_out_alpha(self) -> None:
        add = self.op("aten::add.out")
        for dtype in DTYPES:
            x = op_tester.make_tensor((2, 3), dtype)
            for alpha in (2, -1, 1.5, True, 300, 1e39):
                add.judge(x, x, alpha=alpha)

    def test_scalar_out(self) -> None:
        for scalar in (3, 1.5, True):
            self.check_unary(self.op("aten::add.Scalar_out"), scalar, dtypes=DTYPES)

    def test_scalar_out_alpha(self) -> None:
        add = self.op("aten::add.Scalar_out")
        for dtype in DTYPES:
            for scalar, alpha in ((3, 2), (1.5, 2), (3, 1.5), (True, True)):
                add.judge(op_tester.make_tensor((2, 3), dtype), scalar, alpha)


if __name__ == "__main__":
    absltest.main()
