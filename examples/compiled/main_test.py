"""The binary prints what PyTorch computes, and links no runtime."""

import subprocess
from pathlib import Path

import torch
from absl.testing import absltest

from examples.compiled import model

_BINARY = Path("examples/compiled/main")


class MainTest(absltest.TestCase):
    def test_outputs(self) -> None:
        printed = subprocess.run([_BINARY], check=True, capture_output=True, text=True).stdout
        module, _ = model.get_model()
        expected = module(torch.ones(1, 28, 28))[0]
        torch.testing.assert_close(
            torch.tensor([float(line) for line in printed.split()]), expected, atol=1e-4, rtol=1e-4
        )

    def test_no_runtime(self) -> None:
        self.assertNotIn(b"libexecutorch", _BINARY.read_bytes())


if __name__ == "__main__":
    absltest.main()
