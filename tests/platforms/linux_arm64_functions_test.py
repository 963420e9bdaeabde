"""Tests of kernels' functions, compiled for one instruction set of arm64, pass on a processor that has no wider set."""

import os
import subprocess

from absl.testing import absltest

from kernels.testing import arm64


class LinuxArm64FunctionsTest(absltest.TestCase):
    def test_programs(self) -> None:
        environment = {**os.environ, "QEMU_CPU": arm64.PROCESSORS[os.environ["INSTRUCTION_SET"]]}
        for program in os.environ["PROGRAMS"].split():
            with self.subTest(program=program):
                command = [os.environ["EMULATOR"], program]
                done = subprocess.run(command, env=environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("PASSED", done.stdout)


if __name__ == "__main__":
    absltest.main()
