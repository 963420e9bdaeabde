"""The binaries print what PyTorch computes, and link no runtime."""

import subprocess
from pathlib import Path

import torch
from absl.testing import absltest

from examples.compiled import model

_BINARIES = tuple(Path("examples/compiled") / name for name in ("main", "main_in_c"))


class MainTest(absltest.TestCase):
    def test_outputs(self) -> None:
        module, _ = model.get_model()
        expected = module(torch.ones(1, 28, 28))[0]
        for binary in _BINARIES:
            printed = subprocess.run([binary], check=True, capture_output=True, text=True).stdout
            torch.testing.assert_close(
                torch.tensor([float(line) for line in printed.split()]), expected, atol=1e-4, rtol=1e-4
            )

    def test_no_runtime(self) -> None:
        for binary in _BINARIES:
            self.assertNotIn(b"libexecutorch", binary.read_bytes())


if __name__ == "__main__":
    absltest.main()
