from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from absl.testing import absltest

from diagnostics import error_list
from diagnostics.golden import golden

_ROOT = Path(error_list.__file__).parent.parent
_GOLDENS = sorted(golden.FOLDER.glob("*.txt"))
# An id in a finding's constructor, in a message of a rule, or in a test of a rule.
_USED = re.compile(r'\bid(?: ?=|":) ?"([a-z-]+)"|docs/errors\.md#([a-z-]+)')


def _ids(paths: list[Path]) -> set[str]:
    texts = [path.read_text() for path in paths]
    return {id_ or in_message for text in texts for id_, in_message in _USED.findall(text)}


def _asserted(test: str) -> Iterator[str]:
    """The texts that a test asserts: in calls of assert methods, and in tables at its beginning; ids after a `#`."""
    module = ast.parse(test)
    places: list[ast.AST] = [node for node in module.body if isinstance(node, ast.Assign)]
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert"):
            places.append(node)
    for place in places:
        for node in ast.walk(place):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value.rpartition("#")[2].strip()


class DocumentTest(absltest.TestCase):
    def test_document(self) -> None:
        self.assertEqual(
            (_ROOT / "docs" / "errors.md").read_text(),
            error_list.document(error_list.read()),
            "docs/errors.md is not that of diagnostics/kinds; update: tools/bazel run //diagnostics:update_errors",
        )

    def test_ids_are_those_that_the_code_uses(self) -> None:
        listed = [kind.id for kind in error_list.read()]
        patterns = (
            "diagnostics/derived_operator.py",
            "codegen/*.py",
            "codegen/*/*.py",
            "export/**/*.py",
            "qnn/**/*.py",
            "torch_ops/*.py",
            "rules/private/**/*.bzl",
            "runtime/python/*.py",
        )
        sources = [path for pattern in patterns for path in _ROOT.glob(pattern) if not path.name.endswith("_test.py")]
        self.assertEqual(sorted(_ids(sources)), sorted(listed))

    def test_each_id_is_tested(self) -> None:
        tested = _ids(list(_ROOT.glob("rules/tests/*.bzl"))) | {path.stem for path in _GOLDENS}
        for pattern in (
            "codegen/**/*_test.py",
            "export/**/*_test.py",
            "qnn/**/*_test.py",
            "runtime/python/tests/*_test.py",
            "torch_ops/tests/*_test.py",
        ):
            for path in _ROOT.glob(pattern):
                tested.update(_asserted(path.read_text()))
        self.assertEqual([kind.id for kind in error_list.read() if kind.id not in tested], [])


class GoldensTest(absltest.TestCase):
    def test_ids_are_listed(self) -> None:
        self.assertLessEqual({path.stem for path in _GOLDENS}, {kind.id for kind in error_list.read()})

    def test_each_message_is_that_of_a_test(self) -> None:
        for test in sorted({test for path in _GOLDENS for test, _ in golden.read(path)}):
            module, name, method = test.rsplit(".", 2)
            with self.subTest(test):
                source = _ROOT / f"{module.replace('.', '/')}.py"
                text = source.read_text() if source.is_file() else ""
                methods = re.findall(r"def (test\w+)", text.partition(f"class {name}(")[2])
                # A parameterized test has its parameters after the name.
                self.assertTrue(any(map(method.startswith, methods)), f"is gone; update: {golden.COMMAND}")


_GOOD = """Step: Checking a binary

A tolerance is
not a number.

```python
rtol = "small"

atol = "small"
```

Fix: Give a number.
"""


class ParseTest(absltest.TestCase):
    def parse(self, text: str, name: str = "bad-tolerance.md") -> error_list.Kind:
        path = Path(self.create_tempdir().full_path) / name
        path.write_text(text)
        return error_list.parse(path)

    def test_parts(self) -> None:
        kind = self.parse(_GOOD)
        self.assertEqual(kind.id, "bad-tolerance")
        self.assertEqual(kind.step, "Checking a binary")
        self.assertEqual(kind.meaning, "A tolerance is\nnot a number.")
        self.assertEqual(kind.example, '```python\nrtol = "small"\n\natol = "small"\n```')
        self.assertEqual(kind.fix, "Fix: Give a number.")
        text = error_list.document([kind])
        for part in ("## Checking a binary\n\n### bad-tolerance\n\n", kind.meaning, kind.example, kind.fix):
            self.assertIn(part, text)

    def test_malformed(self) -> None:
        for text in (
            "",
            _GOOD.replace("Step: ", ""),
            _GOOD.replace("Fix: ", ""),
            _GOOD.replace("A tolerance is\nnot a number.\n\n", ""),
            _GOOD.replace("not a number.\n\n", "not a number.\n"),
            _GOOD.replace("```python", "```"),
            _GOOD.replace("\n```\n", "\n"),
            _GOOD + "\nMore.\n",
        ):
            with (
                self.subTest(text),
                self.assertRaisesRegex(error_list.MalformedFileError, "bad-tolerance.md: .* four"),
            ):
                self.parse(text)

    def test_unknown_step(self) -> None:
        with self.assertRaisesRegex(error_list.MalformedFileError, "'Baking' is none of: Selecting operators; "):
            self.parse(_GOOD.replace("Checking a binary", "Baking"))

    def test_name(self) -> None:
        for name in ("Bad.md", "bad_tolerance.md", "bad-tolerance.txt"):
            with self.subTest(name), self.assertRaisesRegex(error_list.MalformedFileError, "not an id"):
                self.parse(_GOOD, name)


if __name__ == "__main__":
    absltest.main()
