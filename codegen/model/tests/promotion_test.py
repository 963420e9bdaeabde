from __future__ import annotations

import itertools

import torch
from absl.testing import absltest

from codegen.model import kernel_keys, promotion, scalar_types, schema, selection
from diagnostics.errors import Location

_NUMBERS = scalar_types.SCALAR_TYPES
_TORCH = {
    "Byte": torch.uint8,
    "Char": torch.int8,
    "Short": torch.int16,
    "Int": torch.int32,
    "Long": torch.int64,
    "Half": torch.float16,
    "Float": torch.float32,
    "Double": torch.float64,
    "ComplexHalf": torch.complex32,
    "ComplexFloat": torch.complex64,
    "ComplexDouble": torch.complex128,
    "Bool": torch.bool,
    "BFloat16": torch.bfloat16,
    "UInt16": torch.uint16,
    "UInt32": torch.uint32,
    "UInt64": torch.uint64,
}


def _schema(text: str) -> schema.FunctionSchema:
    return schema.parse(text, lambda offset: Location("a.yaml"))


def _numbers(*names: str) -> frozenset[int]:
    return frozenset(_NUMBERS[name] for name in names)


_ADD = _schema("aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")
_MM = _schema("aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)")


class DtypesTest(absltest.TestCase):
    def _names(self, numbers: frozenset[int] | None) -> set[str] | None:
        return None if numbers is None else {kernel_keys.dtype_name(number) for number in numbers}

    def test_promotion_is_that_of_pytorch(self) -> None:
        for a, b in itertools.product(_TORCH, repeat=2):
            try:
                expected = torch.promote_types(_TORCH[a], _TORCH[b])
            except RuntimeError:
                self.assertIsNone(promotion.promote(_NUMBERS[a], _NUMBERS[b]), f"{a} and {b}")
                continue
            promoted = promotion.promote(_NUMBERS[a], _NUMBERS[b])
            self.assertIsNotNone(promoted, f"{a} and {b}")
            self.assertEqual(_TORCH[kernel_keys.dtype_name(promoted or 0)], expected, f"{a} and {b}")

    def test_scalars_and_floating_point_functions_need_no_other_dtype(self) -> None:
        """What PyTorch computes tensors of one dtype with Scalars of every kind in, and functions of them."""
        for name in ("Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double"):
            x = torch.ones(2, dtype=_TORCH[name])
            computed = {(x + scalar).dtype for scalar in (True, 2, 0.5)} | {torch.exp(x).dtype, torch.div(x, x).dtype}
            closed = self._names(promotion.with_computed(_numbers(name), _ADD)) or set()
            self.assertLessEqual(computed, {_TORCH[other] for other in closed}, name)

    def test_with_computed(self) -> None:
        for given, expected in (
            (["Float"], {"Float"}),
            (["Half"], {"Half", "Float"}),
            (["BFloat16", "Double"], {"BFloat16", "Float", "Double"}),
            (["Byte", "Char"], {"Byte", "Char", "Short", "Float"}),
            (["Bool", "Float"], {"Bool", "Float"}),
            (["ComplexHalf"], {"ComplexHalf", "ComplexFloat"}),
            (["QInt8"], {"QInt8"}),
            ([], set()),
        ):
            self.assertEqual(self._names(promotion.with_computed(_numbers(*given), _MM)), expected)
        self.assertEqual(self._names(promotion.with_computed(_numbers("Bool"), _ADD)), {"Bool", "Long", "Float"})

    def _selected(self, function: schema.FunctionSchema, **keys: list[str]) -> set[str] | None:
        operators = {
            f"aten::{name.replace('__', '.')}": selection.SelectedOperator(kernel_keys=frozenset(of))
            for name, of in keys.items()
        }
        return self._names(promotion.selected(function, selection.Selection(operators)))

    def test_selected(self) -> None:
        self.assertEqual(self._selected(_MM, mm__out=["v1/6;0,1|6;0,1|6;0,1|6;0,1"]), {"Float"})
        self.assertEqual(self._selected(_MM, mm__out=["v1/6;", "v1/7;"]), {"Float", "Double"})
        self.assertEqual(self._selected(_MM, add__out=["v1/6;"]), set())
        self.assertIsNone(self._selected(_MM, mm__out=["v1/6;", "default"]))
        everything = selection.Selection({}, include_all=True)
        self.assertIsNone(promotion.selected(_MM, everything))

    def test_every_overload(self) -> None:
        operator = selection.SelectedOperator(all_overloads=True, kernel_keys=frozenset({"v1/4;"}))
        wanted = selection.Selection({"aten::add": operator})
        self.assertEqual(self._names(promotion.selected(_ADD, wanted)), {"Long", "Float"})
        self.assertEqual(self._names(promotion.selected(_MM, wanted)), set())


if __name__ == "__main__":
    absltest.main()
