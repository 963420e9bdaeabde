from __future__ import annotations

import itertools
from pathlib import Path

from absl.testing import absltest

from tools.lint import slow_tests

# One test for each reason.
_ELSEWHERE = {pattern.replace("*", "x") for pattern in slow_tests.ELSEWHERE}


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

    def test_what_ci_runs(self) -> None:
        self.assertRegex(Path(".ci/run").read_text(), r"\ntools/bazel test .* //\.\.\. //:quick //:slow\n")


if __name__ == "__main__":
    absltest.main()
