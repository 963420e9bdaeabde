"""Compiled programs run on an emulated Cortex-M7 without an operating system, and give PyTorch's outputs."""

import os
import subprocess

from absl.testing import absltest

_IMAGES = {key.removeprefix("IMAGE_"): path for key, path in os.environ.items() if key.startswith("IMAGE_")}


class BoardTest(absltest.TestCase):
    def test_runs(self) -> None:
        for name in sorted(_IMAGES):
            with self.subTest(name):
                self._run(name)

    def _run(self, name: str) -> None:
        done = subprocess.run(
            [os.environ["QEMU"], "-M", "mps2-an500", "-nographic", "-semihosting", "-kernel", _IMAGES[name]],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, text)
        self.assertIn("all outputs equal PyTorch's\n", text)
        sizes = subprocess.run([os.environ["SIZE"], _IMAGES[name]], capture_output=True, text=True, check=True)
        print(text, sizes.stdout)


if __name__ == "__main__":
    absltest.main()
