"""Each method of a program gives what PyTorch gives, whatever the number of threads and the instruction set."""

import itertools
import os
import subprocess

from absl.testing import absltest, parameterized

from kernels.testing import processor

_RUNNER = os.environ["RUNNER"]


def _run(*flags: str, instruction_set: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "EXECUTORCH_INSTRUCTION_SET": instruction_set}
    return subprocess.run([_RUNNER, *flags], env=environment, capture_output=True, text=True)


class RunnerTest(parameterized.TestCase):
    @parameterized.parameters(*itertools.product((1, 2, 3), processor.instruction_sets()))
    def test_equals_pytorch(self, threads: int, instruction_set: str) -> None:
        listed = _run("--list_methods", instruction_set=instruction_set).stdout.splitlines()
        methods = [line for line in listed if not line.startswith(" ")]
        done = _run("--check", f"--threads={threads}", instruction_set=instruction_set)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotEmpty(methods)
        self.assertIn(f", {len(methods)} methods, ", done.stdout.splitlines()[-1])

    def test_program_in_mapped_memory(self) -> None:
        done = _run("--check", "--load=mmap", instruction_set=processor.instruction_sets()[0])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    absltest.main()
