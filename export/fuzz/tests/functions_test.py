"""Tests of calls of PyTorch's functions and modules."""

from __future__ import annotations

from pathlib import Path

import torch
from absl.testing import absltest

from export.fuzz.check import Check, Counts
from export.fuzz.functions import UnusableError, call, functions


class FunctionsTest(absltest.TestCase):
    def test_dtypes(self) -> None:
        found = {(one.name, one.dtype) for one in functions("^(add|bitwise_and)$", 1)}
        of_add = {("add", dtype) for dtype in (torch.float32, torch.int64, torch.float16, torch.bfloat16)}
        self.assertEqual(found, of_add | {("bitwise_and", torch.int64)})

    def test_samples_of_a_function(self) -> None:
        found = [one for one in functions("^sub$", 3) if one.dtype == torch.float32]
        self.assertEqual([one.is_dynamic for one in found], [False, True, False])
        self.assertLen({one.number for one in found}, 3)

    def test_some_of_the_functions(self) -> None:
        names = [[one.name for one in functions("^(sin|cos|tan)$", 1, first, 2)] for first in (0, 1)]
        self.assertEqual([len({*some}) for some in names], [2, 1])
        self.assertEqual({*names[0], *names[1]}, {"sin", "cos", "tan"})

    def test_random_functions_are_left_out(self) -> None:
        self.assertEmpty([*functions("^(randn_like|multinomial|bernoulli)$", 1)])
        with self.assertRaisesRegex(UnusableError, "aten.randn_like.default is random"):
            call("randn_like", torch.float32, 0).check()

    def test_modules(self) -> None:
        for name in ("nn.BatchNorm2d", "nn.LazyConv1d", "nn.TransformerEncoderLayer"):
            found = {one.dtype: one for one in functions(f"^{name}$", 1)}
            self.assertEqual([*found], [torch.float32, torch.float16, torch.bfloat16])
            one = call(name, torch.bfloat16, 0)
            self.assertEqual({one.dtype for one in one.parameters()}, {torch.bfloat16})
            self.assertFalse(next(one.children()).training)

    def test_tensors_are_inputs(self) -> None:
        one = call("cumsum", torch.float32, 0)
        (x,), (dim,) = one.inputs, [leaf for leaf in one.leaves if isinstance(leaf, int)]
        (result,) = one(x + 1)
        self.assertTrue(torch.equal(result, torch.cumsum(x + 1, dim)))
        self.assertLen(call("cummax", torch.float32, 0)(x), 2)

    def test_programs_are_right(self) -> None:
        counts = Counts()
        check = Check(Path(self.create_tempdir().full_path), counts)
        for one in functions(r"^(cummax|masked_select|nn\.Linear)$", 4):
            if one.dtype == torch.float32:
                self.assertEmpty(check(one))


if __name__ == "__main__":
    absltest.main()
