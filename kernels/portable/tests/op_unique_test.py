"""Tests of op_unique.cpp: _unique2.out, unique_dim.out, unique_consecutive.out and unique_dim_consecutive.out."""

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

_DTYPES = (*op_tester.ALL_DTYPES, *op_tester.UNSIGNED_DTYPES)
_FLAGS = tuple(itertools.product((False, True), repeat=2))


class OpUniqueTest(op_tester.OpTest):
    def check(self, name: str, x: torch.Tensor, *arguments: Any, **options: Any) -> None:
        self.op(name).check(x, *arguments, exact=True, **options)

    def check_all(self, x: torch.Tensor) -> None:
        for inverse, counts in _FLAGS:
            self.check("aten::_unique2.out", x, True, inverse, counts)
            self.check("aten::unique_consecutive.out", x, inverse, counts, None)

    def check_dims(self, x: torch.Tensor) -> None:
        for dim in range(-x.dim(), x.dim()):
            for inverse, counts in _FLAGS:
                self.check("aten::unique_dim.out", x, dim, True, inverse, counts)
                self.check("aten::unique_consecutive.out", x, inverse, counts, dim)
                self.check("aten::unique_dim_consecutive.out", x, dim, inverse, counts)

    def test_dtypes_and_dims(self) -> None:
        for dtype in _DTYPES:
            low = -2 if dtype.is_signed else 0
            for order in op_tester.dim_orders(3):
                x = op_tester.make_tensor((4, 3, 2), dtype, dim_order=order, low=0, high=2).to(torch.int8).to(dtype)
                self.check_all(x)
                self.check_dims(x)
            self.check_dims(op_tester.make_tensor((30, 2), dtype, low=0, high=2).to(torch.int8).to(dtype))
            self.check_dims(op_tester.make_tensor((50,), dtype, low=low, high=2).to(torch.int8).to(dtype))

    def test_out_dim_order(self) -> None:
        x = op_tester.make_tensor((6, 5), torch.int64, low=0, high=4)
        expected = self.op("aten::_unique2.out").expect(x, True, True, False)
        # The result of one dimension has one order.
        values, inverse, _ = self.op("aten::_unique2.out").run(x.T.contiguous().T, True, True, False, outs=expected)
        torch.testing.assert_close([values, inverse], expected[:2])

    def test_long_lines(self) -> None:
        generator = torch.Generator().manual_seed(0)
        for dtype in (torch.float32, torch.int64, torch.float16):
            for high in (5, 3000):
                self.check_all(torch.randint(0, high, (3000,), generator=generator).to(dtype))
        x = torch.randint(0, 2, (400, 9), generator=generator)
        self.check_dims(x)

    def test_special_values(self) -> None:
        """Tests that NaN equals no element, and that 0 equals -0."""
        for dtype in _DTYPES:
            values = op_tester.special_values(dtype)
            self.check_all(values)
            numbers = values[~values.isnan()]
            for x in (numbers.repeat(2), numbers.repeat_interleave(2)):
                self.check_all(x)
            # PyTorch's order of NaNs, and with it their numbers in the inverse, is undefined.
            for x in (values.repeat(2), values.repeat_interleave(2)):
                self.check("aten::_unique2.out", x, True, False, True)
                self.check("aten::unique_consecutive.out", x, True, True, None)

    def test_nan_in_items(self) -> None:
        """Tests that items with NaN do not separate equal items. PyTorch's order of them is undefined."""
        nan = float("nan")
        for dtype in op_tester.FLOAT_DTYPES:
            x = torch.tensor([[1, 0], [nan, 0], [0, 0], [nan, 0], [1, 0], [0, nan]], dtype=dtype)
            outs = [x, torch.empty(6).long(), torch.empty(6).long()]
            items, inverse, counts = self.op("aten::unique_dim.out").run(x, 0, True, True, True, outs=outs)
            expected = torch.tensor([[0, 0], [0, nan], [1, 0], [nan, 0], [nan, 0]], dtype=dtype)
            torch.testing.assert_close(items, expected, rtol=0, atol=0, equal_nan=True)
            self.assertEqual(inverse.tolist(), [2, 3, 0, 4, 2, 1])
            self.assertEqual(counts.tolist(), [1, 1, 2, 1, 1])

    def test_shapes(self) -> None:
        for shape in ((), (0,), (1,), (2, 0, 3)):
            self.check_all(torch.ones(shape))
        for x, dim in ((torch.ones(0), 0), (torch.ones(0, 3), 0), (torch.ones(3, 0), 1)):
            self.check("aten::unique_dim.out", x, dim, True, True, True)
            self.check("aten::unique_dim_consecutive.out", x, dim, True, True)

    def test_fixed_memory_for_what_is_not_asked_for(self) -> None:
        """Tests that a result that is not asked for can have memory of a fixed size, as an export plans it."""
        x = torch.tensor([1, 1, 3])
        outs = [torch.tensor([1, 3]), x, x]
        values, *_ = self.op("aten::unique_consecutive.out").run(x, False, False, 0, outs=outs, static=True)
        self.assertEqual(values.tolist(), [1, 3])

    def test_rejected(self) -> None:
        x = torch.tensor([[1, 2], [1, 3]])
        outs = [x.flatten(), x, x.flatten()]
        unique = self.op("aten::_unique2.out")
        for dtype in op_tester.COMPLEX_DTYPES:
            unique.check_rejected(x.to(dtype), True, True, True, outs=[x.flatten().to(dtype), *outs[1:]])
        for wrong in range(3):
            bad = [out.int() if i == wrong else out for i, out in enumerate(outs)]
            unique.check_rejected(x, True, True, True, outs=bad)
        unique.check_rejected(x, True, True, True, outs=[torch.tensor([1, 2]), *outs[1:]], static=True)
        for name, *arguments in (
            ("aten::unique_dim.out", 2, True, False, False),
            ("aten::unique_dim_consecutive.out", -3, False, False),
        ):
            self.op(name).check_rejected(x, *arguments, outs=[x, outs[0], outs[0]])
        self.op("aten::unique_dim.out").check_rejected(torch.ones(2, 0), 0, outs=[torch.ones(2, 0), outs[0], outs[0]])


if __name__ == "__main__":
    absltest.main()
