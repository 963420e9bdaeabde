"""Tests of op_sort.cpp: sort.values and sort.values_stable."""

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

_DTYPES = (*op_tester.ALL_DTYPES, *op_tester.UNSIGNED_DTYPES)


def _stable_sort(x: torch.Tensor, dim: int = -1, descending: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.sort(x, stable=True, dim=dim, descending=descending)
    return values, indices


class OpSortTest(op_tester.OpTest):
    def check(self, x: torch.Tensor, dim: int, descending: bool, **options: Any) -> None:
        """Compares with PyTorch's stable order, which both operators have."""
        self.op("aten::sort.values", reference=_stable_sort).check(x, dim, descending, exact=True, **options)
        self.op("aten::sort.values_stable").check(x, stable=True, dim=dim, descending=descending, exact=True, **options)

    def test_dtypes_and_dims(self) -> None:
        for dtype in _DTYPES:
            for order in op_tester.dim_orders(4):
                x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=order)
                for dim, descending in itertools.product(range(-4, 4), (False, True)):
                    self.check(x, dim, descending, out_dim_order=order)

    def test_lengths(self) -> None:
        """Tests lines that are sorted by insertion and by digits, with and without equal elements."""
        generator = torch.Generator().manual_seed(0)
        for dtype in _DTYPES:
            for length in (1, 2, 47, 48, 49, 50, 300, 5000):
                few = torch.randint(0, 9, (2, length), generator=generator)
                many = torch.randn((2, length), generator=generator, dtype=torch.float64) * 1000
                # PyTorch converts negative floats to unsigned integers differently on each processor.
                for x in (few, many if dtype.is_signed else many.long()):
                    for descending in (False, True):
                        self.check(x.to(dtype), 1, descending)
                        self.check(x.to(dtype).T.contiguous(), 0, descending)

    def test_sorted_lines(self) -> None:
        x = torch.arange(3000.0)
        for line in (x, x.flip(0), x.div(10).floor(), torch.zeros(3000)):
            for descending in (False, True):
                self.check(line, 0, descending)

    def test_special_values(self) -> None:
        """Tests that NaN is the largest element, and that 0 equals -0."""
        for dtype in _DTYPES:
            values = op_tester.special_values(dtype)
            reversed_values = torch.tensor(values.tolist()[::-1], dtype=dtype)
            for x in (values, values.repeat(20), reversed_values.repeat(20)):
                for descending in (False, True):
                    self.check(x, 0, descending)
        zeros = torch.tensor([0.0, -0.0] * 50)
        nans = torch.tensor([float("nan"), -float("nan"), 1.0, float("inf")] * 50)
        for x in (zeros, nans):
            for dtype in op_tester.FLOAT_DTYPES:
                for descending in (False, True):
                    self.check(x.to(dtype), 0, descending)
        # The values keep their bits.
        (values, _) = self.op("aten::sort.values").run(zeros, outs=[zeros, zeros.long()])
        self.assertTrue(torch.equal(values.view(torch.int32), zeros.view(torch.int32)))

    def test_shapes(self) -> None:
        for shape, dim in (((), 0), ((), -1), ((0,), 0), ((2, 0, 3), 1), ((2, 0, 3), 0), ((1, 1), 1)):
            self.check(torch.ones(shape), dim, False)

    def test_threads(self) -> None:
        x = torch.randn((40, 5000), generator=torch.Generator().manual_seed(0))
        self.op("aten::sort.values").check_threads(x, 1, False)

    def test_rejected(self) -> None:
        sort = self.op("aten::sort.values")
        x = torch.ones(3, 4)
        for dim in (2, -3):
            sort.check_rejected(x, dim, False)
        for dtype in op_tester.COMPLEX_DTYPES:
            sort.check_rejected(x.to(dtype), 0, False, outs=[x.to(dtype), x.long()])
        sort.check_rejected(x, 0, False, outs=[x.double(), x.long()])
        sort.check_rejected(x, 0, False, outs=[x, x.int()])
        sort.check_rejected(x, 0, False, outs=[torch.ones(2, 4), x.long()], static=True)


if __name__ == "__main__":
    absltest.main()
