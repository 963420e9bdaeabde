"""Compiled programs run on another platform, and give PyTorch's outputs."""

import os
import subprocess

from absl.testing import absltest

_COMMAND = os.environ["COMMAND"].split()
_PROGRAMS = os.environ["PROGRAMS"].split()
_SIZE = os.environ.get("SIZE")


class PlatformTest(absltest.TestCase):
    def test_runs(self) -> None:
        for program in _PROGRAMS:
            with self.subTest(program):
                done = subprocess.run(
                    [*_COMMAND, program], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120
                )
                text = done.stdout + done.stderr
                self.assertEqual(done.returncode, 0, text)
                self.assertIn("all outputs equal PyTorch's\n", text)
                print(program, text, sep="\n")
                if _SIZE:
                    print(subprocess.run([_SIZE, program], capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    absltest.main()
