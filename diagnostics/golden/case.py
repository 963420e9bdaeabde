"""What tests of errors have in common: they assert ids and places in their code, and the words against the goldens."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from absl.testing import absltest

from diagnostics.errors import Finding, InputError
from diagnostics.golden import golden


@functools.cache
def goldens() -> dict[str, dict[str, list[str]]]:
    """The messages of each test by their ids."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in golden.FOLDER.glob("*.txt"):
        for test, text in golden.read(path):
            found[test][path.stem].append(text)
    return found


def _document(messages: dict[str, list[str]]) -> str:
    return golden.document((id_, text) for id_, texts in messages.items() for text in texts)


class TestCase(absltest.TestCase):
    """A test case with a directory of its own, whose path no place and no golden shows."""

    # All of a difference is shown.
    maxDiff = sys.maxsize

    def setUp(self) -> None:
        super().setUp()
        self.directory = Path(self.create_tempdir().full_path)
        self._messages: dict[str, list[str]] = defaultdict(list)
        self.addCleanup(self._compare_words)

    def write(self, name: str, content: str | bytes) -> str:
        """Writes a file and gives its path."""
        path = self.directory / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def places(self, function: Callable[[], object]) -> list[str]:
        """The id and the place of each thing that the function finds wrong, without a golden for the words."""
        return [self._place(finding) for finding in self._refused(function)]

    def assert_refused(self, function: Callable[[], object], *expected: str) -> None:
        """Asserts all that the function finds wrong, as `assert_findings` does."""
        self.assert_findings(self._refused(function), *expected)

    def assert_findings(self, findings: Iterable[Finding], *expected: str) -> None:
        """Asserts the id and the place of each finding, `<id> <place>`, and the words against the goldens."""
        findings = tuple(findings)
        self.assertEqual([self._place(finding) for finding in findings], [*map(self._without_paths, expected)])
        for finding in findings:
            self._messages[finding.id].append(self._without_paths(str(finding)))

    def _refused(self, function: Callable[[], object]) -> tuple[Finding, ...]:
        with self.assertRaises(InputError) as raised:
            function()
        return raised.exception.findings

    def _place(self, finding: Finding) -> str:
        return f"{finding.id} {self._without_paths(str(finding.where))}"

    def _without_paths(self, text: str) -> str:
        text = text.replace(f"{self.directory}/", "").replace(f"{golden.ROOT}/", "")
        # Other modes of Bazel give the repositories other names.
        return re.sub(r"\bexternal/[^/]+/", "external/", text)

    def _compare_words(self) -> None:
        main = Path(sys.modules["__main__"].__file__ or "")
        test = self.id()
        if test.startswith("__main__.") and main.is_relative_to(golden.ROOT):
            test = ".".join(main.relative_to(golden.ROOT).with_suffix("").parts) + test.removeprefix("__main__")
        if os.environ.get(golden.UPDATE):
            for id_, texts in self._messages.items():
                with (Path(os.environ["TEST_UNDECLARED_OUTPUTS_DIR"]) / f"{id_}.txt").open("a") as file:
                    file.write(golden.document((test, text) for text in texts))
            return
        self.assertEqual(
            _document(goldens().get(test, {})),
            _document(self._messages),
            f"The goldens of {test} have other words (-) than the findings (+). Rewrite all goldens, and review the "
            f"difference: {golden.COMMAND}",
        )
