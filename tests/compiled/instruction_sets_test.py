"""A compiled program for speed calls the kernels for the instruction set of the processor."""

import os
import re
import subprocess
import sys
from pathlib import Path

from absl.testing import absltest

from kernels.testing import processor

_CHECK = sys.argv.pop(1)
# The instruction sets of the build: all, or some.
_BUILT = Path(sys.argv.pop(1)).read_text().split(",")


def _run(instruction_set: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "EXECUTORCH_INSTRUCTION_SET": instruction_set}
    return subprocess.run([_CHECK], capture_output=True, text=True, env=environment)


class InstructionSetsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        if len(_BUILT) == 1 and _BUILT != ["all"]:
            self.skipTest("The kernels of this build are for one instruction set.")

    def test_each_set(self) -> None:
        scratch_bytes = {}
        for name in processor.instruction_sets():
            if name in _BUILT or _BUILT == ["all"]:
                done = _run(name)
                self.assertEqual(done.returncode, 0, done.stdout)
                (scratch_bytes[name],) = map(int, re.findall(r"scratch memory (\d+) bytes", done.stdout))
        # Convolutions keep rows of a block, which is as wide as the vectors of the instruction set.
        in_order = list(scratch_bytes.values())
        self.assertEqual(in_order, sorted(in_order, reverse=True), scratch_bytes)
        if "avx512_bf16" in scratch_bytes:
            self.assertGreater(scratch_bytes["avx512_bf16"], scratch_bytes["baseline"])

    def test_unknown_set(self) -> None:
        done = _run("mmx")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('EXECUTORCH_INSTRUCTION_SET is "mmx": set it to baseline, avx2, ', done.stderr)


if __name__ == "__main__":
    absltest.main()
