"""The worked example's entry in operators.bzl is what write_operators writes, and says what the example's targets are.

operators_bzl_test operators.bzl op_softplus.cpp functions.yaml kernels/common/BUILD.bazel '{"op_softplus": ...}'
"""

import json
import sys
from pathlib import Path

from absl.testing import absltest

from kernels.common import operator_lists


class OperatorsBzlTest(absltest.TestCase):
    def test_entry(self) -> None:
        shown, source, yaml, common = (Path(path).read_text() for path in sys.argv[1:5])
        written = operator_lists.entries({"op_softplus.cpp": source}, [yaml], operator_lists.targets_of_headers(common))
        self.assertEqual(written.strip(), shown.strip())
        names: dict[str, object] = {"operator_file": lambda operators, common: [operators, common]}
        self.assertEqual(eval("{" + shown + "}", names), json.loads(sys.argv[5]))


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
