from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from absl.testing import absltest

from codegen.tests import case
from diagnostics import error_list

_ROOT = Path(error_list.__file__).parent.parent
# An id in a finding's constructor or in a message of a rule.
_USED = re.compile(r'\bid="([a-z-]+)"|docs/errors\.md#([a-z-]+)')


def _ids(paths: list[Path]) -> set[str]:
    texts = [path.read_text() for path in paths]
    return {id_ or in_message for text in texts for id_, in_message in _USED.findall(text)}


def _asserted(test: str) -> Iterator[str]:
    """The texts that a test asserts: in calls of assert methods, and in tables at its beginning; ids behind a `#`."""
    module = ast.parse(test)
    places: list[ast.AST] = [node for node in module.body if isinstance(node, ast.Assign)]
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert"):
            places.append(node)
    for place in places:
        for node in ast.walk(place):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value.rpartition("#")[2].strip()


class ErrorListTest(case.TestCase):
    def test_document(self) -> None:
        self.assertEqual(
            (_ROOT / "docs" / "errors.md").read_text(),
            error_list.document(),
            "docs/errors.md is not that of the list; update it: tools/bazel run //diagnostics:update_errors",
        )

    def test_ids_are_those_that_the_code_uses(self) -> None:
        listed = [kind.id for kind in error_list.KINDS]
        self.assertEqual(len(set(listed)), len(listed))
        patterns = ("codegen/*.py", "codegen/*/*.py", "export/*.py", "torch_ops/*.py", "rules/private/**/*.bzl")
        sources = [path for pattern in patterns for path in _ROOT.glob(pattern) if not path.name.endswith("_test.py")]
        self.assertEqual(sorted(_ids(sources)), sorted(listed))

    def test_each_id_is_tested(self) -> None:
        tested = _ids(list(_ROOT.glob("rules/tests/*.bzl")))
        for pattern in ("codegen/**/*_test.py", "export/tests/*_test.py", "torch_ops/tests/*_test.py"):
            for path in _ROOT.glob(pattern):
                tested.update(_asserted(path.read_text()))
        self.assertEqual([kind.id for kind in error_list.KINDS if kind.id not in tested], [])


if __name__ == "__main__":
    absltest.main()
