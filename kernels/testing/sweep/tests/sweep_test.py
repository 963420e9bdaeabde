"""Runs a sample of the sweep: the results of each operator equal PyTorch's, or a departure describes the difference.

EXECUTORCH_INSTRUCTION_SET selects the instruction set of the kernels, KERNEL_SWEEP_SEED selects the sample.
"""

import os
import random
import unittest
import warnings

from absl.testing import absltest, parameterized

from kernels.testing import processor
from kernels.testing.sweep.operators import read_operators
from kernels.testing.sweep.sweep import Extent, Sweep

_SEED = int(os.environ.get("KERNEL_SWEEP_SEED", "0"))
_INSTRUCTION_SET = os.environ.get("EXECUTORCH_INSTRUCTION_SET")
_OPERATORS = read_operators(os.environ["KERNEL_YAMLS"].split())
_SAMPLE = random.Random(_SEED).sample(_OPERATORS, 10)
_EXTENT = Extent(_SEED, dtypes=16, calls=3, variations=20)


class SweepTest(parameterized.TestCase):
    sweep: Sweep

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if _INSTRUCTION_SET is not None and _INSTRUCTION_SET not in processor.instruction_sets():
            raise unittest.SkipTest(f"this processor does not support {_INSTRUCTION_SET}")
        warnings.simplefilter("ignore")
        cls.sweep = Sweep(_OPERATORS, _EXTENT)

    @parameterized.parameters(*_SAMPLE)
    def test_operator(self, name: str) -> None:
        ((_, findings),) = self.sweep.run([name], jobs=1)
        self.assertEmpty(findings.failures)
        self.assertNotEmpty(findings.counts, "no call: given.py needs some")


if __name__ == "__main__":
    absltest.main()
