"""Tests of tools/check, with programs in place of Bazel and the sanitizers that note their arguments."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from absl.testing import absltest

_CHECK = Path("tools/check")
# Fails for the command that has the word in the file `failing`.
_PROGRAM = """#!/bin/sh
echo "$(basename "$0") $*" >> calls
case "$*" in *"$(cat failing)"*) exit 3 ;; query*) cat slow ;; esac
"""


class CheckTest(absltest.TestCase):
    def _run(
        self, *arguments: str, failing: str = "nothing", changed: Sequence[str] = (), slow: str = ""
    ) -> tuple[int, list[str], list[str]]:
        """The exit code of tools/check, the calls of other programs and the last lines that it prints, one a call.

        Args:
            *arguments: the arguments.
            failing: a word in the command that fails.
            changed: the files that git names.
            slow: the slow tests that Bazel names.
        """
        tree = Path(self.create_tempdir().full_path)
        (tree / "tools").mkdir()
        shutil.copy(_CHECK, tree / "tools/check")
        for name in ("bazel", "sanitize"):
            (tree / "tools" / name).write_text(_PROGRAM)
            (tree / "tools" / name).chmod(0o755)
        (tree / "failing").write_text(failing)
        (tree / "changed").write_text("\n".join(changed))
        (tree / "slow").write_text(slow.replace(" ", "\n"))
        git = tree / "path/git"
        git.parent.mkdir()
        git.write_text('#!/bin/sh\n[ "$1" = diff ] || cat changed\n')
        git.chmod(0o755)
        path = f"{git.parent}:{os.environ['PATH']}"
        run = subprocess.run(
            [tree / "tools/check", *arguments], capture_output=True, text=True, env={**os.environ, "PATH": path}
        )
        calls = tree / "calls"
        return run.returncode, calls.read_text().splitlines() if calls.exists() else [], run.stdout.splitlines()

    def test_quick(self) -> None:
        code, calls, printed = self._run()
        self.assertEqual((code, calls), (0, ["bazel test //:quick", "bazel run //tools/lint"]))
        self.assertLen(printed, 2)
        self.assertRegex(printed[0], r"^ok +\d+ s  tools/bazel test //:quick$")

    def test_changed(self) -> None:
        tests = "//export:a_test //export/lower:b_test //exported:c_test //rules/tests:d_test //tools:e_test"
        code, calls, printed = self._run("--changed", changed=("export/a.py", "tools/b/c.py", "README.md"), slow=tests)
        self.assertEqual(code, 0)
        self.assertEqual(calls[-1], "bazel test --keep_going //export:a_test //export/lower:b_test //tools:e_test")
        self.assertLen(printed, 3)
        _, calls, printed = self._run("--changed", changed=("docs/a.md",), slow=tests)
        self.assertEqual(calls[1:], ["bazel test //:quick", "bazel run //tools/lint"])
        self.assertLen(printed, 2)

    def test_everything(self) -> None:
        code, calls, printed = self._run("--everything")
        self.assertEqual(code, 0)
        self.assertEqual([line.split("  tools/")[1] for line in printed], calls)
        for part in (
            "test --keep_going //... //:slow",
            "GRAPH_PASS_CASES=all",
            "op_tests_of_all_sets",
            "--config=bazel10",
            "sanitize",
            "toolchains",
            "sweep",
            "fuzz",
            "lint",
        ):
            self.assertIn(part, "\n".join(calls))

    def test_failure(self) -> None:
        code, calls, printed = self._run("--everything", failing="GRAPH_PASS_CASES")
        self.assertEqual(code, 1)
        self.assertLen(printed, len(calls))
        self.assertEqual([line.split()[0] for line in printed], ["ok", "FAILED", *["ok"] * (len(calls) - 2)])

    def test_unknown_argument(self) -> None:
        code, calls, _ = self._run("--all")
        self.assertEqual((code, calls), (2, []))


if __name__ == "__main__":
    absltest.main()
