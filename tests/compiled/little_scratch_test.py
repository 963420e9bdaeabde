"""The test of a program with too little scratch memory says how much the program needs."""

import subprocess
import sys

from absl.testing import absltest

_ATTENTION, _LENET = sys.argv[1:]


class LittleScratchTest(absltest.TestCase):
    def test_sample(self) -> None:
        done = subprocess.run([_LENET], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(
            done.stdout,
            r"forward, sample 0: error 33 in instruction 0, rules_executorch::packed_convolution.out, of .*, "
            r"which needs \d{4,5} bytes of scratch memory: raise scratch_bytes\n",
        )

    def test_bound_of_the_export(self) -> None:
        """The samples have smaller sizes, for which the memory is enough."""
        done = subprocess.run([_ATTENTION], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(
            done.stdout,
            r"^With inputs of the largest sizes, as in the export's bounds: forward: error 33 in instruction "
            r"\d+, .*, which needs \d+ bytes of scratch memory: raise scratch_bytes\n"
            r"forward: 1 outputs compared",
        )


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
