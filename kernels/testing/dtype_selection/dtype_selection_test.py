"""Tests that kernels built for selected dtypes compute these as PyTorch does, and fail with a message for others."""

from __future__ import annotations

import itertools
from typing import Any

import torch
from absl.testing import absltest

from kernels.testing import op_tester

_SCALE = "my_ops::scale.out(Tensor x, Scalar factor, *, Tensor(a!) out) -> Tensor(a!)"
_NAMED_LATE = "my_ops::named_late.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"


class DtypeSelectionTest(op_tester.OpTest):
    def _left_out(self, tester: op_tester.OpTester, dtype: str, *args: Any) -> None:
        """Tests that the kernel fails with a message that names the operator and the dtype."""
        name = tester.name.removeprefix("aten::")
        with self.assertRaisesRegex(op_tester.KernelError, rf"error 0x12: .*Unhandled dtype {dtype} for {name}: "):
            tester.run(*args, outs=tester.expect(*args))

    def test_computed_in_another_dtype(self) -> None:
        add, exp = self.op("aten::add.out"), self.op("aten::exp.out")
        for a, b in op_tester.BROADCAST_SHAPES:
            x, y = op_tester.make_tensor(a, torch.float16), op_tester.make_tensor(b, torch.float16)
            add.check(x, y)
            add.check(x, y, alpha=0.5)
        for shape in op_tester.SHAPES:
            exp.check(op_tester.make_tensor(shape, torch.bfloat16))

    def test_promoted(self) -> None:
        div, eq, where = self.op("aten::div.out"), self.op("aten::eq.Scalar_out"), self.op("aten::where.self_out")
        x = op_tester.make_tensor((3, 5), torch.int32)
        div.check(x, x)
        for scalar in (0.5, 2, True):
            eq.check(x, scalar)
            eq.check(x > 0, scalar)
        a, b = op_tester.make_tensor((3, 5), torch.int8), op_tester.make_tensor((5,), torch.uint8)
        where.check(x > 0, a, b)  # computed in Short

    def test_left_out(self) -> None:
        x = op_tester.make_tensor((2, 3, 3), torch.float64)
        self._left_out(self.op("aten::add.out"), "Double", x, x)
        self._left_out(self.op("aten::exp.out"), "Double", x)
        self._left_out(self.op("aten::bmm.out"), "Double", x, x)
        self._left_out(self.op("aten::div.out"), "Double", x, x)
        self._left_out(self.op("aten::eq.Scalar_out"), "Short", x.to(torch.int16), 1)
        self._left_out(self.op("aten::where.self_out"), "Int", x > 0, x.int(), x.int())

    def test_conversions_that_no_kernel_needs_are_right(self) -> None:
        """Tests that common functions convert all dtypes, because the build does not know which kernels call them."""
        copy = self.op("aten::copy.out")
        values = torch.tensor([0.0, 1.0, -1.0, 1.5, 100.75, -100.25, 127.0, 3.0e-5])
        for source, target in itertools.product(op_tester.ALL_DTYPES, repeat=2):
            x = (values.abs() if torch.uint8 in (source, target) else values).to(source)
            copy.check(torch.empty(8, dtype=target), x, exact=True)

    def test_special_values_are_converted(self) -> None:
        copy = self.op("aten::copy.out")
        for source, target in itertools.product(op_tester.FLOAT_DTYPES, repeat=2):
            x = op_tester.special_values(source)
            copy.check(torch.empty(x.shape, dtype=target), x, exact=True)
        for source, target in itertools.product(op_tester.INT_DTYPES, op_tester.ALL_DTYPES):
            limits = torch.iinfo(source)
            x = torch.tensor([limits.min, limits.max, limits.max // 3], dtype=source)
            copy.check(torch.empty(3, dtype=target), x, exact=True)

    def test_own_kernel(self) -> None:
        scale = self.op(_SCALE.partition("(")[0], schema=_SCALE, reference=lambda x, factor: (x * factor).to(x.dtype))
        x = op_tester.make_tensor((3, 5), torch.float32)
        for factor in (2, 0.5, True):
            scale.check(x, factor)
        self._left_out(scale, "Double", x.double(), 2)
        self._left_out(scale, "Long", x.long(), 2)

    def test_a_name_that_is_not_constant_leaves_nothing_out(self) -> None:
        named_late = self.op(_NAMED_LATE.partition("(")[0], schema=_NAMED_LATE, reference=lambda x: x * 2)
        for dtype in (torch.float32, torch.float64, torch.int64):
            named_late.check(op_tester.make_tensor((3, 5), dtype))


if __name__ == "__main__":
    absltest.main()
