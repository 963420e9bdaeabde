"""Programs for size whose operators all have loops call no kernel of the library."""

import os
import re
from pathlib import Path

from absl.testing import absltest

_SOURCES = [Path(path) for path in os.environ["GENERATED"].split() if path.endswith("_small.cpp")]


class WithoutKernelsTest(absltest.TestCase):
    def test_no_calls(self) -> None:
        self.assertEqual(len(_SOURCES), 6)
        for path in _SOURCES:
            with self.subTest(path.name):
                self.assertEqual(re.findall(r"\bnative::\w+\(", path.read_text()), [])


if __name__ == "__main__":
    absltest.main()
