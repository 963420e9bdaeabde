"""Tests of op_arange.cpp: arange.out, arange.start_out."""

from absl.testing import absltest

from kernels.testing import op_tester

BOUNDS = ((0, 5), (0, 10, 3), (5, -5, -2), (2, 2), (0.5, 3, 0.25), (0, 1, 0.3), (-1.5, 4.5), (-0.5, -3.2, -1), (0, 600))


class OpArangeTest(op_tester.OpTest):
    def test_start_out(self) -> None:
        arange = self.op("aten::arange.start_out")
        for dtype in op_tester.ALL_DTYPES:
            for bounds in BOUNDS:
                arange.judge(*bounds, out_dtype=dtype)

    def test_rejected(self) -> None:
        arange = self.op("aten::arange.start_out")
        for bounds in ((0, 5, 0), (0, 5, -1), (5, 0, 1), (0, float("inf")), (float("nan"), 1)):
            arange.check_rejected(*bounds)

    def test_out(self) -> None:
        arange = self.op("aten::arange.out")
        for dtype in op_tester.ALL_DTYPES:
            for end in (5, 0, 2.5, -1):
                arange.judge(end, out_dtype=dtype)
        arange.check(300, static=True)


if __name__ == "__main__":
    absltest.main()
