from __future__ import annotations

import itertools
from pathlib import Path

from absl.testing import absltest

from tools.lint import slow_tests

_PATTERNS = slow_tests.ELSEWHERE
# One test for each reason.
_ELSEWHERE = {pattern.replace("*", "x") for pattern in _PATTERNS}


class SlowTestsTest(absltest.TestCase):
    def _places(self, manual: set[str], tagged: set[str], suite: set[str]) -> list[str]:
        return [line.partition(": ")[0] for line in slow_tests.findings(manual, tagged, suite)]

    def test_lists_that_agree(self) -> None:
        slow = {"//a:slow_test"}
        self.assertEqual(self._places(_ELSEWHERE | slow, slow, slow), [])

    def test_a_test_in_some_lists_only(self) -> None:
        test = {"//a:test"}
        in_all_lists = (True, True, True)
        for lists in itertools.product([False, True], repeat=3):
            places = self._places(*(test if has else set() for has in lists))
            with self.subTest(lists=lists):
                self.assertEqual("//a:test" in places, lists not in ((False, False, False), in_all_lists))

    def test_a_reason_without_a_test(self) -> None:
        self.assertEqual(
            self._places(_ELSEWHERE - {"//tools/launcher:install_test"}, set(), set()),
            ["//tools/launcher:install_test"],
        )

    def test_what_bazel_lists(self) -> None:
        tree = Path(self.create_tempdir().full_path)
        bazel = tree / "tools/bazel"
        bazel.parent.mkdir()
        for body, places in (
            ('case "$*" in *manual*|*slow*) echo //a:test ;; esac', set(_PATTERNS)),
            ('case "$*" in *"tests(//:slow)"*) echo //a:test ;; esac', {"//a:test", *_PATTERNS}),
            ("echo ERROR: no package >&2; exit 7", {"tools/bazel query failed"}),
        ):
            bazel.write_text(f"#!/bin/sh\n{body}\n")
            bazel.chmod(0o755)
            with self.subTest(body):
                self.assertEqual({line.partition(": ")[0] for line in slow_tests.check(tree)}, places)

    def test_what_ci_runs(self) -> None:
        script = Path(".ci/run").read_text()
        self.assertIn("\nrun_tests //... //:quick\n", script)
        self.assertIn("query --noshow_progress 'tests(//:slow)'", script)


if __name__ == "__main__":
    absltest.main()
