from __future__ import annotations

import re
from pathlib import Path

from absl.testing import absltest

from codegen import error_list
from codegen.tests import case

_ROOT = Path(error_list.__file__).parent.parent
# An id in a finding's constructor or in a message of a rule.
_USED = re.compile(r'\bid="([a-z-]+)"|docs/errors\.md#([a-z-]+)')


def _ids(paths: list[Path]) -> set[str]:
    texts = [path.read_text() for path in paths]
    return {id_ or in_message for text in texts for id_, in_message in _USED.findall(text)}


class ErrorListTest(case.TestCase):
    def test_document(self) -> None:
        self.assertEqual(
            (_ROOT / "docs" / "errors.md").read_text(),
            error_list.document(),
            "docs/errors.md is not that of codegen/error_list.py; update it: tools/bazel run //codegen:update_errors",
        )

    def test_ids_are_those_that_the_code_uses(self) -> None:
        listed = [kind.id for kind in error_list.KINDS]
        self.assertEqual(len(set(listed)), len(listed))
        patterns = ("codegen/*.py", "export/*.py", "torch_ops/*.py", "rules/private/*.bzl")
        sources = [path for pattern in patterns for path in _ROOT.glob(pattern)]
        sources.remove(_ROOT / "codegen" / "error_list.py")
        self.assertEqual(sorted(_ids(sources)), sorted(listed))

    def test_each_id_is_tested(self) -> None:
        tests = [
            path
            for pattern in (
                "codegen/tests/**/*_test.py",
                "export/tests/*_test.py",
                "torch_ops/tests/*_test.py",
                "rules/tests/*.bzl",
            )
            for path in _ROOT.glob(pattern)
        ]
        text = "\n".join(path.read_text() for path in tests if path.name != Path(__file__).name)
        untested = [kind.id for kind in error_list.KINDS if not re.search(rf"[\"#]{kind.id}[\"\\\n]", text)]
        self.assertEqual(untested, [])


if __name__ == "__main__":
    absltest.main()
