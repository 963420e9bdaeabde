from __future__ import annotations

import itertools
import os
import subprocess
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

    def test_order_in_ci(self) -> None:
        script = Path(".ci/run").read_text()
        function = script[script.index("parts_of_slow_tests() {") :].partition("\n}\n")[0] + "\n}\n"
        git = Path(self.create_tempdir().full_path) / "git"
        git.write_text("#!/bin/sh\nprintf 'kernels/a.cpp\\n\\nkernels/b.h\\nexport/c.py\\nREADME.md\\n'\n")
        git.chmod(0o755)
        tests = [f"//export:{i}" for i in range(4)] + ["//kernels/a:t", *(f"//rules:{i}" for i in range(6))]
        for date, expected in (
            (0, ["run build_all", "run sanitize", tests[:4], tests[4:8], tests[8:]]),
            (8, [["//kernels/a:t", *tests[:3]], tests[4:8], tests[3:4], tests[8:], "run build_all"]),
        ):
            result = subprocess.run(
                ["bash", "-c", f"{function}parts_of_slow_tests {date}"],
                input="\n".join(tests),
                capture_output=True,
                text=True,
                check=True,
                env={"PATH": f"{git.parent}:{os.environ['PATH']}"},
            )
            parts = [part if isinstance(part, str) else " ".join(["run_tests", *part]) for part in expected]
            self.assertEqual(result.stdout.splitlines()[:5], parts)


if __name__ == "__main__":
    absltest.main()
