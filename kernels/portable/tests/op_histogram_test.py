"""Tests of op_histc.cpp and op_bincount.cpp: histc.out, histogram.bin_ct_out and bincount.out."""

import itertools

import torch
from absl.testing import absltest

from kernels.testing import op_tester

INF, NAN = float("inf"), float("nan")


class OpHistogramTest(op_tester.OpTest):
    def test_histc(self) -> None:
        histc = self.op("aten::histc.out")
        for dtype in op_tester.ALL_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    if x.numel() <= 256:  # PyTorch counts in the dtype, which has not more numbers
                        histc.judge(x, 7)
                        histc.judge(x, 5, -2, 3.5)
            values = op_tester.special_values(dtype)
            histc.judge(values, 5, -2, 3.5)
            histc.judge(values, 5)
            histc.check_rejected(torch.ones(3), 5, outs=[torch.ones(5, dtype=torch.int64)])

    def test_histc_ranges(self) -> None:
        histc = self.op("aten::histc.out")
        x = torch.randn(5000, generator=torch.Generator().manual_seed(0))
        for dtype in op_tester.FLOAT_DTYPES:
            for bins, (low, high) in itertools.product((1, 3, 100), ((0, 0), (-1, 1), (0.5, 0.5), (0.1, 0.2), (-9, 2))):
                histc.check(x[:250].to(dtype), bins, low, high)
        histc.check(x, 100, -3, 3)
        for line in ([2.0, 2.0], [NAN, 1.0], [INF, 1.0], []):
            for low, high in ((0, 0), (0, 2), (2, 2), (0, INF), (2, 1), (NAN, 1)):
                histc.judge(torch.tensor(line), 4, low, high)
        for bins in (0, -1):
            histc.check_rejected(x, bins, outs=[torch.ones(1)])
        histc.check_rejected(x, 3, outs=[torch.ones(2)], static=True)

    def test_histogram(self) -> None:
        histogram = self.op("aten::histogram.bin_ct_out")
        for dtype in op_tester.ALL_DTYPES:
            for shape in op_tester.SHAPES:
                for order in op_tester.dim_orders(len(shape)):
                    x = op_tester.make_tensor(shape, dtype, dim_order=order)
                    weight = op_tester.make_tensor(shape, dtype, low=0)
                    for density in (False, True):
                        if dtype.itemsize != 2:  # PyTorch does not compute the range of halves
                            histogram.judge(x, 7, density=density)
                        if x.numel() <= 256:
                            options = {"rounding": op_tester.Rounding.SUM}
                            histogram.judge(x, 5, range=(-2.5, 4.0), weight=weight, density=density, **options)

    def test_histogram_of_halves(self) -> None:
        """Tests the range of halves, which PyTorch does not compute."""
        for dtype in (torch.float16, torch.bfloat16):
            x = torch.tensor([1.0, 2.0, 2.5, 5.0], dtype=dtype)
            outs = [torch.empty(4, dtype=dtype), torch.empty(5, dtype=dtype)]
            hist, edges = self.op("aten::histogram.bin_ct_out").run(x, 4, outs=outs)
            self.assertEqual(hist.tolist(), [1, 2, 0, 1])
            self.assertEqual(edges.tolist(), [1, 2, 3, 4, 5])

    def test_histogram_edges(self) -> None:
        """Tests elements on edges, and beside them. The edges are multiples of a power of two: PyTorch rounds others
        differently on each processor."""
        histogram = self.op("aten::histogram.bin_ct_out")
        for dtype in (torch.float32, torch.float64):
            for bins, (low, high) in ((1, (0.0, 1.0)), (8, (-0.5, 0.5)), (80, (-40.0, 40.0)), (3, (0.0, 0.75))):
                edges = torch.linspace(low, high, bins + 1, dtype=dtype)
                x = torch.cat([edges, edges.nextafter(edges + 1), edges.nextafter(edges - 1)])
                histogram.check(x, bins, range=(low, high), exact=True)
            x = torch.randn(3000, generator=torch.Generator().manual_seed(0), dtype=dtype)
            for bins in (10, 77):
                histogram.check(x, bins)

    def test_histogram_of_weights_in_another_shape(self) -> None:
        """Tests that elements and weights are paired in row-major order."""
        histogram = self.op("aten::histogram.bin_ct_out")
        for dtype in op_tester.FLOAT_DTYPES:
            weight = torch.arange(24, dtype=dtype)
            for order in op_tester.dim_orders(3):
                x = op_tester.make_tensor((2, 3, 4), dtype, dim_order=order)
                for shape in ((24,), (4, 6), (3, 2, 4), (1, 2, 3, 4)):
                    for weight_order in op_tester.dim_orders(len(shape)):
                        ordered = op_tester.with_dim_order(weight.reshape(shape), weight_order)
                        histogram.check(x, 5, range=(-3.0, 3.0), weight=ordered)
        for x, weight in (
            (torch.ones(()), torch.ones(1, 1)),
            (torch.ones(1), torch.ones(())),
            (torch.ones(0), torch.ones(2, 0)),
        ):
            histogram.check(x, 2, range=(0.0, 2.0), weight=weight)

    def test_histogram_ranges(self) -> None:
        histogram = self.op("aten::histogram.bin_ct_out")
        for line in ([2.0, 2.0], [NAN, 1.0], [INF, 1.0], []):
            for limits in (None, (0.0, 2.0), (2.0, 2.0), (2.0, 1.0), (0.0, INF), (NAN, 1.0), (0.0,), (0.0, 1.0, 2.0)):
                histogram.judge(torch.tensor(line), 4, range=limits)
        x = torch.ones(4)
        for bins in (0, -1):
            histogram.check_rejected(x, bins)
        histogram.check_rejected(x, 3, weight=torch.ones(3), outs=[torch.ones(3), x])
        histogram.check_rejected(x, 3, weight=x.double(), outs=[torch.ones(3), x])
        histogram.check_rejected(x, 3, outs=[torch.ones(3).double(), x])

    def test_bincount(self) -> None:
        bincount = self.op("aten::bincount.out")
        for dtype in op_tester.ALL_DTYPES:
            for size in (0, 1, 7, 600):
                x = op_tester.make_tensor((size,), dtype, low=0, high=20)
                for minlength in (0, 5, 50):
                    bincount.judge(x, None, minlength)
                    for weights in op_tester.ALL_DTYPES:
                        bincount.judge(x, op_tester.make_tensor((size,), weights), minlength)
        x = torch.tensor([1, 2])
        bincount.check_rejected(x, None, -1)
        bincount.check_rejected(torch.tensor([1, -1]))
        bincount.check_rejected(torch.tensor([[1]]))
        bincount.check_rejected(torch.tensor(1))
        bincount.check_rejected(x, torch.ones(3), outs=[torch.ones(3)])
        bincount.check_rejected(x, torch.ones(1, 2), outs=[torch.ones(3)])
        bincount.check_rejected(x, outs=[torch.ones(3).int()])
        bincount.check_rejected(torch.tensor([2**40]), outs=[torch.ones(3).long()])
        bincount.check_rejected(x, outs=[torch.ones(2).long()], static=True)


if __name__ == "__main__":
    absltest.main()
