"""Tests of how far results may be from PyTorch's."""

from __future__ import annotations

import dataclasses
import math

import torch
from absl.testing import absltest
from torch import nn

from export.fuzz import judge
from export.fuzz.judge import Reference, Result


class _Counts(nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        x.mul_(2)
        return x + self.count


def _reference(value: torch.Tensor, exact: torch.Tensor | None = None) -> Reference:
    exact = value.double() if exact is None else exact
    return Reference([Result("result", value)], [exact], (), False)


def _difference(reference: Reference, value: torch.Tensor, *, spreads_nan: bool = False) -> str:
    return reference.difference([Result("result", value)], spreads_nan=spreads_nan)


class JudgeTest(absltest.TestCase):
    def test_state_and_inputs_go_on(self) -> None:
        module = _Counts()
        results = judge.judge(module, [[torch.ones(2)]] * 2, ["count"], is_of_bytes=False).eager
        said = {one.place: one.value.tolist() for one in results}
        self.assertEqual(said["result 0 of sample 0"], [3, 3])
        self.assertEqual(said["result 0 of sample 1"], [4, 4])
        self.assertEqual(said["input 0 after sample 1"], [2, 2])
        self.assertEqual(said["buffer count in the end"], [2, 2])
        self.assertEqual(module.count.tolist(), [0, 0])

    def test_rounding_is_no_difference(self) -> None:
        value = torch.tensor([1.0, 1000.0])
        self.assertEmpty(_difference(_reference(value), value + 0.01))
        self.assertIn("2 of 2 are wrong", _difference(_reference(value), value + 1))

    def test_modules_decide_how_far(self) -> None:
        value = torch.tensor([1.0])
        self.assertNotEmpty(_difference(_reference(value), value + 0.01))
        self.assertEmpty(_difference(_reference(value, torch.tensor([1.001], dtype=torch.float64)), value + 0.01))

    def test_dtypes_decide_how_far(self) -> None:
        reference = _reference(torch.tensor([0.259766]))
        next_of_bfloat16 = torch.tensor([0.257812])
        self.assertNotEmpty(_difference(reference, next_of_bfloat16))
        reference = dataclasses.replace(reference, dtypes=frozenset([torch.bfloat16, torch.float32]))
        self.assertEmpty(_difference(reference, next_of_bfloat16))

    def test_ill_conditioned(self) -> None:
        class Cancels(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return (x + 1e6) - 1e6

        samples = [[torch.randn(8) / 100]]
        self.assertTrue(judge.judge(Cancels(), samples, (), is_of_bytes=False).is_ill())
        self.assertFalse(judge.judge(nn.Linear(8, 8), samples, (), is_of_bytes=False).is_ill())

    def test_dtypes_and_shapes(self) -> None:
        reference = _reference(torch.ones(2))
        self.assertIn("torch.float16 [2], not torch.float32 [2]", _difference(reference, torch.ones(2).half()))
        self.assertIn("[1], not", _difference(reference, torch.ones(1)))

    def test_integers_are_exact(self) -> None:
        value = torch.tensor([1, 2])
        self.assertIn("1 of 2", _difference(_reference(value, value), torch.tensor([1, 3])))
        self.assertEmpty(_difference(_reference(value, value), value))

    def test_nan_and_infinities(self) -> None:
        reference = _reference(torch.tensor([1.0, math.nan, math.inf]))
        self.assertEmpty(_difference(reference, torch.tensor([1.0, math.nan, math.inf])))
        for wrong in ([math.nan, math.nan, math.inf], [1, 1, math.inf], [1, math.nan, -math.inf], [1, math.nan, 5]):
            self.assertNotEmpty(_difference(reference, torch.tensor(wrong)))
        self.assertEmpty(_difference(reference, torch.tensor([math.nan] * 3), spreads_nan=True))
        self.assertNotEmpty(_difference(reference, torch.tensor([1.0, 1.0, math.inf]), spreads_nan=True))

    def test_snr(self) -> None:
        noisy = _reference(torch.ones(4), torch.full((4,), 1.001, dtype=torch.float64))
        self.assertAlmostEqual(noisy.least_snr(), -20 * math.log10(16e-3 + 2e-4), delta=0.1)
        self.assertFalse(_reference(torch.tensor([math.inf])).is_finite())


if __name__ == "__main__":
    absltest.main()
