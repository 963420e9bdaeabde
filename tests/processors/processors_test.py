"""Programs run on processors that lack what the machine's has: kernels run no instruction without asking for it."""

import itertools
import os
import subprocess

from absl.testing import absltest

_PROGRAM_TESTS = os.environ["PROGRAM_TESTS"].split()
_QEMU = os.environ["QEMU"]

# Plain x86-64; with SSE4.2; with AVX, but without AVX2; with AVX2.
_PROCESSORS = ("qemu64", "Nehalem", "SandyBridge", "Haswell")


class ProcessorsTest(absltest.TestCase):
    def test_programs(self) -> None:
        for program, processor in itertools.product(_PROGRAM_TESTS, _PROCESSORS):
            with self.subTest(program=program, processor=processor):
                done = subprocess.run([_QEMU, "-cpu", processor, program], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("PASSED", done.stdout)


if __name__ == "__main__":
    absltest.main()
