"""Programs run on processors that lack what the machine's has: kernels have no instruction that they have not asked for."""

import os
import subprocess

from absl.testing import absltest, parameterized

_PROGRAM_TESTS = os.environ["PROGRAM_TESTS"].split()
_QEMU = os.environ["QEMU"]

# Plain x86-64; with SSE4.2; with AVX, but without AVX2; with AVX2.
_PROCESSORS = ("qemu64", "Nehalem", "SandyBridge", "Haswell")


class ProcessorsTest(parameterized.TestCase):
    @parameterized.product(program=_PROGRAM_TESTS, processor=_PROCESSORS)
    def test_program(self, program: str, processor: str) -> None:
        done = subprocess.run([_QEMU, "-cpu", processor, program], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("PASSED", done.stdout)


if __name__ == "__main__":
    absltest.main()
