"""Tests of op_topk.cpp: topk.values."""

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester


class OpTopkTest(op_tester.OpTest):
    def check(self, x: torch.Tensor, k: int, *arguments: Any, **options: Any) -> None:
        """Compares the values with PyTorch's. For equal values, PyTorch's indices are arbitrary."""
        topk = self.op("aten::topk.values")
        expected, indices = topk.expect(x, k, *arguments)
        values, found = topk.run(x, k, *arguments, outs=[expected, indices], **options)
        torch.testing.assert_close(values, expected, rtol=0, atol=0, equal_nan=True)
        dim = arguments[0] if arguments else -1
        torch.testing.assert_close(x.gather(dim, found), values, rtol=0, atol=0, equal_nan=True)
        unique = found if x.dim() == 0 else found.sort(dim).values.diff(dim=dim)
        self.assertTrue((unique > 0).all() or x.dim() == 0, "an element is chosen twice")

    def test_dtypes_and_dims(self) -> None:
        for dtype in op_tester.ALL_DTYPES[:-1]:
            for order in op_tester.dim_orders(4):
                x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=order)
                for dim in range(-4, 4):
                    for k in (0, 1, x.shape[dim]):
                        for largest in (True, False):
                            self.check(x, k, dim, largest, out_dim_order=order)

    def test_numbers(self) -> None:
        """Tests that the result of a 0-dim tensor is the tensor for all k."""
        topk = self.op("aten::topk.values")
        for k, order in itertools.product((0, 1), (True, False)):
            topk.check(torch.tensor(5.0), k, -1, order, exact=True)
            topk.check(torch.tensor(float("nan")), k, 0, order, exact=True)

    def test_long_lines(self) -> None:
        x = torch.rand((3, 1000), generator=torch.Generator().manual_seed(0))
        for k in (1, 10, 999, 1000):
            for largest in (True, False):
                self.check(x, k, 1, largest)
                self.check(x.T.contiguous(), k, 0, largest)

    def test_special_values(self) -> None:
        for dtype in op_tester.ALL_DTYPES[:-1]:
            values = op_tester.special_values(dtype)
            for largest in (True, False):
                self.check(values, 5, 0, largest)
        self.check(torch.full((9,), float("nan")), 3)
        self.check(torch.full((9,), float("-inf")), 3)
        self.check(torch.tensor(3.0), 1)

    def test_rejected(self) -> None:
        topk = self.op("aten::topk.values")
        x = torch.ones(3, 4)
        for arguments in ((5,), (-1,), (4, 0), (1, 2), (1, -3)):
            topk.check_rejected(x, *arguments, outs=[x, x.long()])
        for dtype in (torch.bool, *op_tester.UNSUPPORTED_DTYPES):
            topk.check_rejected(x.to(dtype), 1, outs=[x.to(dtype), x.long()])
        topk.check_rejected(x, 1, outs=[x.double(), x.long()])
        topk.check_rejected(x, 1, outs=[x, x.int()])


if __name__ == "__main__":
    absltest.main()
