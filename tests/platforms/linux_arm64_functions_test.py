"""Kernels' functions compute the same for an instruction set of arm64, on a processor that has no wider set."""

import os
import subprocess
from pathlib import Path

from absl.testing import absltest

from kernels.testing import arm64

_EMULATOR = arm64.Emulator(Path(os.environ["QEMU"]), Path(os.environ["LOADER"]))


class LinuxArm64FunctionsTest(absltest.TestCase):
    def test_programs(self) -> None:
        command = _EMULATOR.command(arm64.PROCESSORS[os.environ["INSTRUCTION_SET"]])
        for program in os.environ["PROGRAMS"].split():
            with self.subTest(program=program):
                done = subprocess.run([*command, program], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("PASSED", done.stdout)


if __name__ == "__main__":
    absltest.main()
