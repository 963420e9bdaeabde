"""Tests that the sweep has calls of every operator, so that each sample of operators has some."""

import os

import torch
from absl.testing import absltest

from kernels.testing.judge import OpTester
from kernels.testing.references import reference
from kernels.testing.sweep import given
from kernels.testing.sweep.operators import read_operators
from kernels.testing.sweep.opinfos import Samples

_DTYPES = (torch.float32, torch.int64, torch.int8, torch.complex64, torch.bool)


class CallsTest(absltest.TestCase):
    def test_every_operator_has_calls(self) -> None:
        operators = [*dict.fromkeys(read_operators(os.environ["KERNEL_YAMLS"].split()))]
        samples = Samples(OpTester(name, **reference(name)).eager for name in operators)

        def has_calls(name: str) -> bool:
            return any(
                next(calls, None) is not None
                for dtype in _DTYPES
                for calls in (given.calls(name, dtype), samples.calls(name, dtype, seed=0))
            )

        self.assertEqual([name for name in operators if not has_calls(name)], [], "given.py needs calls of these")


if __name__ == "__main__":
    absltest.main()
