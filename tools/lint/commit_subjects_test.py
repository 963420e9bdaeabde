from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.lint import commit_subjects

_LONG = 73 * "s"
_LOG = f"""\
2027-01-02T03:04:05+00:00 abc1 Kernels: {63 * "s"}
2027-01-02T03:04:05+00:00 abc2 {_LONG}
2026-11-28T19:30:00+02:00 abc3 {_LONG}
2026-11-28T19:30:00+00:00 abc4 {_LONG}
"""


class CommitSubjectsTest(absltest.TestCase):
    def test_long_subjects(self) -> None:
        found = list(commit_subjects.findings(_LOG))
        self.assertEqual([line.partition(":")[0] for line in found], ["abc2", "abc4"])
        self.assertEqual(found[0], f"abc2: the subject has 73 characters, not at most 72: {_LONG}")

    def test_tree_without_git(self) -> None:
        self.assertEqual(list(commit_subjects.check(Path(self.create_tempdir().full_path))), [])


if __name__ == "__main__":
    absltest.main()
