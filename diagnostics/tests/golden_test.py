"""Tests of the goldens: which difference fails a test, and what the update writes."""

from __future__ import annotations

import os
import unittest
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from absl.testing import absltest

from diagnostics.errors import Finding, InputError, Location
from diagnostics.golden import case, golden, update

# The name of the test of _inner() in the goldens.
_TEST = "diagnostics.tests.golden_test._inner.<locals>.Inner.runTest"


def _finding(found: str, *, id_: str = "bad-alias", path: str = "a.yaml") -> Finding:
    return Finding(Location(path, 2, 3), found, "a typo", "correct it", id=id_)


def _golden(*found: str, id_: str = "bad-alias") -> str:
    return golden.document((_TEST, str(_finding(text, id_=id_))) for text in found)


def _inner(found: Sequence[tuple[str, str]], expected: Sequence[str]) -> unittest.TestCase:
    """A test that asserts findings, each given by its id and what is wrong."""

    class Inner(case.TestCase):
        def runTest(self) -> None:  # noqa: N802
            path = self.write("a.yaml", "")

            def refuse() -> None:
                raise InputError([_finding(text, id_=id_, path=path) for id_, text in found])

            self.assertEqual(self.places(refuse), list(expected))
            self.assert_refused(refuse, *expected)

    return Inner()


class GoldenTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(self.create_tempdir().full_path)
        environment = {name: value for name, value in os.environ.items() if name != golden.UPDATE}
        self.enter_context(mock.patch.dict(os.environ, environment, clear=True))
        self.enter_context(mock.patch.object(golden, "FOLDER", self.folder))

    def _failures(self, *found: tuple[str, str], expected: Sequence[str]) -> str:
        """How a test fails that asserts findings, with the goldens of the folder."""
        case.goldens.cache_clear()
        result = unittest.TestResult()
        _inner(found, expected).run(result)
        self.assertEqual(result.errors, [])
        return "\n".join(text for _, text in result.failures)

    def _failures_of_one(self, expected: str = "bad-alias a.yaml:2:3", **goldens: str) -> str:
        """How a test with one finding fails."""
        for id_, text in goldens.items():
            (self.folder / f"{id_.replace('_', '-')}.txt").write_text(text)
        return self._failures(("bad-alias", "no a"), expected=[expected])

    def test_same_words(self) -> None:
        self.assertEqual(self._failures_of_one(bad_alias=_golden("no a")), "")

    def test_other_words(self) -> None:
        failures = self._failures_of_one(bad_alias=_golden("not a"))
        self.assertIn("- a.yaml:2:3: error: not a\n", failures)
        self.assertIn("+ a.yaml:2:3: error: no a\n", failures)
        self.assertIn(golden.COMMAND, failures)

    def test_no_golden(self) -> None:
        self.assertIn(golden.COMMAND, self._failures_of_one())

    def test_golden_without_a_finding(self) -> None:
        self.assertIn(golden.COMMAND, self._failures_of_one(bad_alias=_golden("no a", "no b")))
        other = _golden("no b", id_="bad-op-def")
        self.assertIn(golden.COMMAND, self._failures_of_one(bad_alias=_golden("no a"), bad_op_def=other))

    def test_other_place_or_id(self) -> None:
        for expected in ("bad-alias a.yaml:2:4", "bad-op-def a.yaml:2:3"):
            failures = self._failures_of_one(expected, bad_alias=_golden("no a"))
            self.assertIn("['bad-alias a.yaml:2:3'] != ", failures)

    def test_update(self) -> None:
        """What a test writes, and what the update makes of it."""
        logs, tree = Path(self.create_tempdir().full_path), Path(self.create_tempdir().full_path)
        outputs = logs / "a" / "b" / "c_test" / "test.outputs"
        outputs.mkdir(parents=True)
        found = (("bad-alias", "no b"), ("bad-op-def", "no c"), ("bad-alias", "no a"))
        with mock.patch.dict(os.environ, {golden.UPDATE: "1", "TEST_UNDECLARED_OUTPUTS_DIR": str(outputs)}):
            self.assertEqual(self._failures(*found, expected=[f"{id_} a.yaml:2:3" for id_, _ in found]), "")
        (tree / "bad-schema.txt").write_text("of a test that is gone")
        (tree / "case.py").touch()
        update.rewrite(tree, update.collect(logs, ["//a/b:c_test", "//a/b:of_no_finding_test"]))
        self.assertEqual(
            {path.name: path.read_text() for path in tree.iterdir()},
            {
                "bad-alias.txt": _golden("no b", "no a"),
                "bad-op-def.txt": _golden("no c", id_="bad-op-def"),
                "case.py": "",
            },
        )
        self.assertEqual(update.collect(logs, ["//a:b"]), {})

    def test_order_of_messages(self) -> None:
        """By test, and in a test as the test has them."""
        messages = [("b", "2"), ("a", "3\n  of several lines\n\n  and an empty one"), ("b", "1")]
        path = self.folder / "bad-alias.txt"
        path.write_text(golden.document(messages))
        self.assertEqual(golden.read(path), [messages[1], messages[0], messages[2]])


if __name__ == "__main__":
    absltest.main()
