"""Compiled programs run on an emulated arm64 processor with Linux, and give PyTorch's outputs."""

import os
import subprocess
from pathlib import Path

from absl.testing import absltest

from kernels.testing.arm64 import PROCESSORS, Emulator

_PROGRAMS = {key.removeprefix("PROGRAM_"): path for key, path in os.environ.items() if key.startswith("PROGRAM_")}
_EMULATOR = Emulator(Path(os.environ["QEMU"]), Path(os.environ["LOADER"]))


class Arm64Test(absltest.TestCase):
    def test_runs(self) -> None:
        # The kernels are those of the narrowest instruction set.
        command = _EMULATOR.command(PROCESSORS["baseline"])
        for name, program in sorted(_PROGRAMS.items()):
            with self.subTest(name):
                done = subprocess.run([*command, program], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("all outputs equal PyTorch's\n", done.stdout)


if __name__ == "__main__":
    absltest.main()
