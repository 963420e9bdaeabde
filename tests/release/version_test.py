from __future__ import annotations

import re
import tarfile
from pathlib import Path

from absl.testing import absltest

_ROOT = Path(__file__).parents[2]
_ARCHIVE = _ROOT / "tools/release/rules_executorch.tar.gz"


class VersionTest(absltest.TestCase):
    def test_the_module_has_the_newest_version_of_the_changelog(self) -> None:
        versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (_ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
        module = re.search(r'^module\(.*?^    version = "([^"]*)"', (_ROOT / "MODULE.bazel").read_text(), re.M | re.S)
        assert module is not None
        self.assertEqual(versions[0], module[1])
        with tarfile.open(_ARCHIVE) as archive:
            # Which shows a workspace, and what writes one.
            for name in ("README.md", "tools/init/workspace.py"):
                file = archive.extractfile(name)
                assert file is not None
                self.assertIn(f'bazel_dep(name = "rules_executorch", version = "{module[1]}")', file.read().decode())

    def test_the_newest_version_is_read_in_two_minutes(self) -> None:
        newest = re.split(r"^## \[\d.*\n", (_ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1]
        self.assertLessEqual(len(newest.splitlines()), 80)

    def test_the_archive_is_whole_and_without_tests(self) -> None:
        with tarfile.open(_ARCHIVE) as archive:
            members = archive.getmembers()
        names = [member.name for member in members]
        self.assertEqual(sorted(names), names)
        for name in ("LICENSE", "MODULE.bazel", "README.md", "rules/defs.bzl", "kernels/portable/op_add.cpp"):
            self.assertIn(name, names)
        self.assertEqual([], [name for name in names if "/tests/" in name or name.startswith("tests/")])
        self.assertEqual({0}, {member.mtime for member in members})

    def test_the_oldest_bazel_is_one(self) -> None:
        checked = (_ROOT / "rules/private/repositories/bazel_version.bzl").read_text()
        module = re.search(r'bazel_compatibility = \[">=([^"]*)"\]', (_ROOT / "MODULE.bazel").read_text())
        workspace = re.search(r'_OLDEST_BAZEL = "([^"]*)"', checked)
        assert module is not None and workspace is not None
        self.assertEqual(module[1], workspace[1])
        self.assertIn(f"| Bazel | {module[1]} ", (_ROOT / "docs" / "workspace.md").read_text())


if __name__ == "__main__":
    absltest.main()
