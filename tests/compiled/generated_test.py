"""The C++ of LeNet is that of the goldens, in which a change of the generator can be reviewed."""

import os
import sys
from pathlib import Path

from absl.testing import absltest

_GENERATED = [Path(path) for path in os.environ["GENERATED"].split()]
_UPDATE = (
    "update: tools/bazel build //tests/compiled:lenet_generated && for f in lenet.h lenet.cpp lenet_c.h lenet_c.cpp; "
    "do cp -f bazel-bin/tests/compiled/$f tests/compiled/$f.golden; done"
)


class GeneratedTest(absltest.TestCase):
    maxDiff = sys.maxsize

    def test_goldens(self) -> None:
        self.assertEqual(sorted(path.name for path in _GENERATED), ["lenet.cpp", "lenet.h", "lenet_c.cpp", "lenet_c.h"])
        if "typed_kernels" not in "".join(path.read_text() for path in _GENERATED):
            self.skipTest("The goldens call kernels for several instruction sets; this build has kernels for one.")
        for path in _GENERATED:
            with self.subTest(path.name):
                golden = Path(f"tests/compiled/{path.name}.golden")
                self.assertEqual(golden.read_text(), path.read_text(), _UPDATE)


if __name__ == "__main__":
    absltest.main()
