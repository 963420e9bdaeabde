"""The sources, functions.yaml and operators.bzl name the same files and operators."""

import json
import pathlib

import yaml
from absl.testing import absltest

_PORTABLE = pathlib.Path(__file__).parents[1]


class OperatorsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        files = json.loads((_PORTABLE / "operator_files.json").read_text())
        self.operators: dict[str, list[str]] = files["operators"]
        self.sources: list[str] = files["sources"]

    def test_every_source_is_listed(self) -> None:
        self.assertCountEqual(self.operators, self.sources)

    def test_every_operator_is_bound(self) -> None:
        bound = []
        for entry in yaml.safe_load((_PORTABLE / "functions.yaml").read_text()):
            name = entry["op"] if "op" in entry else entry["func"].partition("(")[0]
            bound.append(name if "::" in name else f"aten::{name}")
        self.assertCountEqual([op for operators in self.operators.values() for op in operators], bound)

    def test_every_operator_is_tested(self) -> None:
        tests = "".join(test.read_text() for test in (_PORTABLE / "tests").glob("op_*_test.*"))
        names = [op for operators in self.operators.values() for op in operators]
        self.assertEqual(
            [op for op in names if f'"{op}' not in tests and f'"{op.removeprefix("aten::")}"' not in tests], []
        )


if __name__ == "__main__":
    absltest.main()
