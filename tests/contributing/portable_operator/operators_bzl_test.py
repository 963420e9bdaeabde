"""The worked example's entry in operators.bzl is what write_operators writes, and says what the example's targets are.

operators_bzl_test operators.bzl op_softplus.cpp functions.yaml '{"op_softplus": ...}' BUILD files of kernels
"""

import json
import sys
from pathlib import Path

from absl.testing import absltest

from kernels import operator_lists


class OperatorsBzlTest(absltest.TestCase):
    def test_entry(self) -> None:
        shown, source, yaml = (Path(path).read_text() for path in sys.argv[1:4])
        builds = {Path(path).parent.name: Path(path).read_text() for path in sys.argv[5:]}
        libraries = operator_lists.libraries_of_headers(builds)
        written = operator_lists.entries({"op_softplus.cpp": source}, [yaml], libraries)
        self.assertEqual(written.strip(), shown.strip())
        names: dict[str, object] = {"operator_file": lambda operators, deps: [operators, deps]}
        self.assertEqual(eval("{" + shown + "}", names), json.loads(sys.argv[4]))


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
