"""Tests that a kernel library has all operators of ExecuTorch's library, and that tests name all its operators.

operators_test --yaml functions.yaml --executorch_yaml .../functions.yaml \\
    --test_file op_add_test.py ...
"""

import pathlib

import yaml
from absl import flags
from absl.testing import absltest

_YAMLS = flags.DEFINE_multi_string("yaml", [], "The library's YAMLs.")
_EXECUTORCH_YAMLS = flags.DEFINE_multi_string("executorch_yaml", [], "ExecuTorch's YAMLs of such a library.")
_TESTS = flags.DEFINE_multi_string("test_file", [], "The library's tests.")


def operators_of(path: str) -> list[str]:
    """The names of the operators that a YAML binds, with their namespaces."""
    entries = yaml.safe_load(pathlib.Path(path).read_text())
    names = [entry["op"] if "op" in entry else entry["func"].partition("(")[0] for entry in entries]
    return [name if "::" in name else f"aten::{name}" for name in names]


class OperatorsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.bound = [name for path in _YAMLS.value for name in operators_of(path)]

    def test_none_of_executorch_is_missing(self) -> None:
        for path in _EXECUTORCH_YAMLS.value:
            missing = [name for name in operators_of(path) if name not in self.bound]
            self.assertEqual(missing, [], f"{', '.join(_YAMLS.value)} lack operators of ExecuTorch's {path}")

    def test_every_operator_is_tested(self) -> None:
        tests = "".join(pathlib.Path(path).read_text() for path in _TESTS.value)
        self.assertEqual(
            [op for op in self.bound if f'"{op}' not in tests and f'"{op.removeprefix("aten::")}"' not in tests], []
        )


if __name__ == "__main__":
    absltest.main()
