"""The image prints on an emulated board what PyTorch computes, and is small."""

import os
import subprocess
from pathlib import Path

import torch
from absl.testing import absltest

from examples.compiled import model

_IMAGE = "examples/microcontroller/image"
# Of code, with what the board needs.
_MOST_BYTES = 8_000


class ImageTest(absltest.TestCase):
    def test_outputs(self) -> None:
        module, _ = model.get_model()
        expected = module(torch.ones(1, 28, 28))[0] * 1000
        done = subprocess.run(
            [os.environ["QEMU"], "-M", "mps2-an500", "-nographic", "-semihosting", "-kernel", _IMAGE],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, text)
        torch.testing.assert_close(torch.tensor([float(line) for line in text.split()]), expected, atol=2, rtol=0)

    def test_size(self) -> None:
        sizes = subprocess.run([os.environ["SIZE"], _IMAGE], capture_output=True, text=True, check=True).stdout
        text = int(sizes.splitlines()[1].split()[0])
        constants = Path(os.environ["CONSTANTS"]).stat().st_size
        print(f"{text - constants} bytes of code, {constants} bytes of constants")
        self.assertLess(text - constants, _MOST_BYTES)


if __name__ == "__main__":
    absltest.main()
