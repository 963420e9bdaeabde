"""The test of a program with too little scratch memory says how much the program needs."""

import subprocess
import sys

from absl.testing import absltest


class LittleScratchTest(absltest.TestCase):
    def test_message(self) -> None:
        done = subprocess.run([sys.argv[1]], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(
            done.stdout,
            r"forward, sample 0: error 33 in instruction 0, rules_executorch::packed_convolution.out, of .*, "
            r"which needs \d{4,5} bytes of scratch memory: raise scratch_bytes\n",
        )


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
