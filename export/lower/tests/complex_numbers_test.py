"""Tests that the decompositions of complex operators give the results of the operators."""

from __future__ import annotations

import itertools
import math
from typing import ClassVar

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig
from torch import Tensor
from torch._ops import OpOverload

from export.lower import repeated_work
from export.lower.complex_numbers import COMPLEX_DECOMPOSITIONS
from export.patches import more_decompositions

_aten = torch.ops.aten
_FUNCTIONS = (
    _aten._conj.default, _aten._neg_view.default, _aten.exp.default, _aten.log.default, _aten.neg.default,
    _aten.reciprocal.default, _aten.sqrt.default, _aten.tanh.default,
)  # fmt: skip
_WITH_CONSTANTS = (_aten.add.Tensor, _aten.div.Tensor, _aten.mul.Tensor, _aten.sub.Tensor)
# Numbers on and beside the axes and the branch cuts, small and large ones.
_PARTS = (0.0, -0.0, 0.5, -1.0, 3.0, -7.0, 30.0, -60.0, 1e-20)
_EXACT = {
    _aten._conj.default, _aten._neg_view.default, _aten.neg.default, _aten.view_as_complex.default, *_WITH_CONSTANTS,
}  # fmt: skip
# The largest error, relative to the absolute value of the result, in units of eps.
_LARGEST_ERROR = 8


def _numbers(dtype: torch.dtype) -> Tensor:
    special = torch.tensor([complex(*parts) for parts in itertools.product(_PARTS, repeat=2)], dtype=dtype)
    return torch.cat([special, 3 * torch.randn(500, dtype=dtype, generator=torch.Generator().manual_seed(0))])


class _Wave(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        wave = torch.exp(1j * x).conj()
        return torch.view_as_real(wave - 2j) + wave.imag[:, None]


class _Rotary(torch.nn.Module):
    """Pairs of the results of a layer with parameters as complex numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 6)

    def forward(self, x: Tensor) -> Tensor:
        return torch.view_as_real(torch.view_as_complex(self.layer(x).unflatten(-1, (-1, 2))) * 1j)


class ComplexNumbersTest(absltest.TestCase):
    tested: ClassVar[set[OpOverload]] = set()

    @classmethod
    def tearDownClass(cls) -> None:
        super().tearDownClass()
        missing = [str(one) for one in COMPLEX_DECOMPOSITIONS if one not in cls.tested]
        if missing:
            raise AssertionError(f"no test compares {', '.join(missing)}")

    def check(self, operator: OpOverload, *given: object, **options: object) -> None:
        with self.subTest(str(operator), given=given, **options):
            self.tested.add(operator)
            expected = operator(*given, **options).resolve_conj().resolve_neg()
            found = COMPLEX_DECOMPOSITIONS[operator](*given, **options).resolve_conj()
            self.assertEqual((found.dtype, found.shape), (expected.dtype, expected.shape))
            is_number = expected.isfinite() & (expected.abs() > 0)
            self.assertGreater(int(is_number.sum()), expected.numel() // 2)
            limit = 0 if operator in _EXACT else _LARGEST_ERROR * torch.finfo(expected.dtype).eps
            error = ((found - expected).abs() / expected.abs())[is_number].max().item()
            self.assertLessEqual(error, limit)
            self.assertTrue(bool((found[expected == 0] == 0).all()))

    def test_functions(self) -> None:
        for dtype, operator in itertools.product((torch.complex64, torch.complex128), _FUNCTIONS):
            self.check(operator, _numbers(dtype))

    def test_constants(self) -> None:
        for dtype in (torch.float32, torch.float64, torch.int64, torch.complex64, torch.complex128):
            x = torch.arange(1, 9).to(dtype)
            for operator, number in itertools.product(_WITH_CONSTANTS, (1j, 2 - 0.5j)):
                self.check(operator, x, number)
        self.check(_aten.add.Tensor, torch.ones(3), 2j, alpha=3)
        self.check(_aten.sub.Tensor, torch.ones(3), 2j, alpha=0.5)

    def test_numbers_that_do_not_fit(self) -> None:
        """Tests real numbers whose exponentials overflow or are 0, and infinite ones."""
        for re, im in itertools.product((math.inf, 1000.0, -1000.0, -math.inf), (0.0, -0.0)):
            z = torch.tensor([complex(re, im)])
            (expected, found) = (_aten.exp.default(z), COMPLEX_DECOMPOSITIONS[_aten.exp.default](z))
            self.assertTrue(torch.equal(torch.view_as_real(found), torch.view_as_real(expected)), f"{z}: {found}")
        z = torch.tensor([complex(re, im) for re, im in itertools.product((1000.0, -math.inf), (1.0, -2.0, 3.0))])
        for operator in (_aten.exp.default, _aten.tanh.default):
            torch.testing.assert_close(COMPLEX_DECOMPOSITIONS[operator](z), operator(z))

    def test_real_numbers_keep_the_operators(self) -> None:
        x = torch.ones(3)
        for operator in _FUNCTIONS[2:]:
            self.assertIs(COMPLEX_DECOMPOSITIONS[operator](x), NotImplemented)
        for operator in _WITH_CONSTANTS:
            for other in (x, 2, 0.5, x.to(torch.complex64)):
                self.assertIs(COMPLEX_DECOMPOSITIONS[operator](x, other), NotImplemented)
        self.assertTrue(torch.equal(COMPLEX_DECOMPOSITIONS[_aten._conj.default](x), x))

    def test_views(self) -> None:
        for dtype in (torch.float16, torch.float32, torch.float64):
            self.check(_aten.view_as_complex.default, torch.arange(1, 13).reshape(3, 2, 2).to(dtype))

    def test_lowering(self) -> None:
        for module, x in ((_Wave(), torch.linspace(-3, 3, 7)), (_Rotary(), torch.randn(2, 4))):
            exported = torch.export.export(module, (x,))
            with more_decompositions.added(COMPLEX_DECOMPOSITIONS):
                edge = repeated_work.to_edge({"forward": exported}, EdgeCompileConfig(_check_ir_validity=False))
            program = edge.exported_program()
            self.assertNotRegex(program.graph_module.code, r"1j|_conj_copy|_neg_view|view_as_complex")
            torch.testing.assert_close(program.module()(x), module(x))


if __name__ == "__main__":
    absltest.main()
