"""The sources, the YAML and operators.bzl of a kernel library name the same files and operators.

operators_test operator_files.json functions.yaml op_add_test.py ...
"""

import json
import pathlib
import sys

import yaml
from absl.testing import absltest

_FILES, _YAML, *_TESTS = (pathlib.Path(argument) for argument in sys.argv[1:])


class OperatorsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        files = json.loads(_FILES.read_text())
        self.operators: dict[str, list[str]] = files["operators"]
        self.sources: list[str] = files["sources"]

    def test_every_source_is_listed(self) -> None:
        self.assertCountEqual(self.operators, self.sources)

    def test_every_operator_is_bound(self) -> None:
        bound = []
        for entry in yaml.safe_load(_YAML.read_text()):
            name = entry["op"] if "op" in entry else entry["func"].partition("(")[0]
            bound.append(name if "::" in name else f"aten::{name}")
        self.assertCountEqual([op for operators in self.operators.values() for op in operators], bound)

    def test_every_operator_is_tested(self) -> None:
        tests = "".join(test.read_text() for test in _TESTS)
        names = [op for operators in self.operators.values() for op in operators]
        self.assertEqual(
            [op for op in names if f'"{op}' not in tests and f'"{op.removeprefix("aten::")}"' not in tests], []
        )


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
