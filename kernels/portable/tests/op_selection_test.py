"""Tests of op_kthvalue.cpp, op_median.cpp and op_mode.cpp: kthvalue.values, median, nanmedian and mode.values."""

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

_MEDIANS = ("aten::median.dim_values", "aten::nanmedian.dim_values")
_MEDIANS_OF_ALL = ("aten::median.out", "aten::nanmedian.out")


class OpSelectionTest(op_tester.OpTest):
    def check(self, name: str, x: torch.Tensor, *arguments: Any, dim: int, **options: Any) -> None:
        """Compares the values with PyTorch's. For equal values, PyTorch's indices are arbitrary."""
        tester = self.op(name)
        *leading, keepdim = arguments
        if not tester.accepts(x, *leading, dim, keepdim):
            return tester.check_rejected(x, *leading, dim, keepdim)
        expected, indices = tester.expect(x, *leading, dim, keepdim)
        values, found = tester.run(x, *leading, dim, keepdim, outs=[expected, indices], **options)
        torch.testing.assert_close(values, expected, rtol=0, atol=0, equal_nan=True)
        if x.dim() and x.numel():
            at = x.gather(dim, found if keepdim else found.unsqueeze(dim))
            torch.testing.assert_close(at if keepdim else at.squeeze(dim), values, rtol=0, atol=0, equal_nan=True)
        else:
            self.assertEqual(found.shape, expected.shape)

    def check_all(self, x: torch.Tensor, dim: int, keepdim: bool, **options: Any) -> None:
        for k in {1, 2, x.shape[dim] if x.dim() else 1}:
            self.check("aten::kthvalue.values", x, k, keepdim, dim=dim, **options)
        for name in _MEDIANS:
            self.check(name, x, keepdim, dim=dim, **options)
        if not x.isnan().any():  # PyTorch's order of lines with NaN is undefined
            self.check("aten::mode.values", x, keepdim, dim=dim, **options)

    def test_dtypes_and_dims(self) -> None:
        for dtype in op_tester.ALL_DTYPES:
            for order in op_tester.dim_orders(4):
                x = op_tester.make_tensor((2, 3, 4, 5), dtype, dim_order=order)
                for dim, keepdim in itertools.product(range(-4, 4), (False, True)):
                    self.check_all(x, dim, keepdim)
                    self.check_all(x, dim, keepdim, out_dim_order=(3, 2, 1, 0) if keepdim else (2, 1, 0))

    def test_lengths(self) -> None:
        generator = torch.Generator().manual_seed(0)
        for dtype in op_tester.ALL_DTYPES:
            for length in (1, 2, 3, 100, 101, 2000):
                for high in (9, 1000):
                    x = torch.randint(0, high, (3, length), generator=generator).to(dtype)
                    self.check_all(x, 1, False)
                    self.check_all(x.T.contiguous(), 0, True)

    def test_special_values(self) -> None:
        for dtype in op_tester.ALL_DTYPES:
            values = op_tester.special_values(dtype)
            for x in (values, values.flip(0), values[: values.numel() // 2], values[~values.isnan()]):
                self.check_all(x, 0, False)
        nan = float("nan")
        for line in ([nan], [nan, nan], [1, nan, 3], [nan, 2, 1, nan], [1, 1, nan, nan, nan], [nan, 3, 3]):
            self.check_all(torch.tensor(line), 0, False)

    def test_index_of_nan(self) -> None:
        """Tests that the median of a line with NaN is the first NaN, as in PyTorch."""
        x = torch.tensor([3.0, float("nan"), 1.0, float("nan")])
        self.op("aten::median.dim_values").check(x, 0, False)

    def test_mode_with_nan(self) -> None:
        """Tests that NaN equals no element."""
        nan = float("nan")
        for line, mode in (([nan, nan, 1, 1], 1.0), ([2, nan, 3, 3], 3.0), ([nan, 5, nan], 5.0)):
            x = torch.tensor(line)
            value, index = self.op("aten::mode.values").run(x, 0, False, outs=[x[0], torch.tensor(0)])
            self.assertEqual(value.item(), mode)
            self.assertEqual(x[index].item(), mode)

    def test_shapes(self) -> None:
        for shape in ((), (1,), (0,), (2, 0, 3), (3, 0)):
            for dim in range(-max(len(shape), 1), max(len(shape), 1)):
                for keepdim in (False, True):
                    self.check_all(torch.ones(shape), dim, keepdim)

    def test_all_elements(self) -> None:
        for name in _MEDIANS_OF_ALL:
            tester = self.op(name)
            for dtype in op_tester.ALL_DTYPES:
                for shape in op_tester.SHAPES:
                    for order in op_tester.dim_orders(len(shape)):
                        x = op_tester.make_tensor(shape, dtype, dim_order=order)
                        if x.numel() or dtype != torch.bool:  # PyTorch accepts Bools without elements
                            tester.judge(x, exact=True)
                tester.judge(op_tester.special_values(dtype), exact=True)
                tester.judge(op_tester.special_values(dtype)[:6], exact=True)
            tester.check_rejected(torch.ones(3), outs=[torch.tensor(1.0).double()])
            tester.check_rejected(torch.ones(3), outs=[torch.ones(1)])

    def test_threads(self) -> None:
        x = torch.randn((40, 5000), generator=torch.Generator().manual_seed(0))
        for name, *arguments in (
            ("aten::kthvalue.values", 7, 1, False),
            ("aten::median.dim_values", 1, False),
            ("aten::nanmedian.dim_values", 1, False),
            ("aten::mode.values", 1, False),
        ):
            self.op(name).check_threads(x, *arguments)

    def test_rejected(self) -> None:
        x = torch.ones(3, 4)
        outs = [torch.ones(3), torch.ones(3).long()]
        for name, *arguments in (
            ("aten::kthvalue.values", 1),
            ("aten::median.dim_values",),
            ("aten::nanmedian.dim_values",),
            ("aten::mode.values",),
        ):
            tester = self.op(name)
            for dim in (2, -3):
                tester.check_rejected(x, *arguments, dim, False)
            tester.check_rejected(x, *arguments, 1, False, outs=[outs[0].double(), outs[1]])
            tester.check_rejected(x, *arguments, 1, False, outs=[outs[0], outs[1].int()])
            tester.check_rejected(x, *arguments, 1, False, outs=[torch.ones(2), outs[1]], static=True)
            for dtype in op_tester.UNSUPPORTED_DTYPES:
                tester.check_rejected(x.to(dtype), *arguments, 1, False, outs=[outs[0].to(dtype), outs[1]])
        for k in (0, -1, 5):
            self.op("aten::kthvalue.values").check_rejected(x, k, 1, False)


if __name__ == "__main__":
    absltest.main()
