"""Tests of the entry in a registry, and of the maintainers of the command line."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
from pathlib import Path

from absl.testing import absltest, flagsaver

from tools.release import archive, entry, release
from tools.release.problems import ReleaseError

_CHANGELOG = """\
# Changelog

## [1.2.3] - 2026-01-02

### Added

- A rule.

## [1.2.2] - 2026-01-01

- Older.
"""
_MODULE = 'module(name = "rules_executorch", version = "1.2.3")\n'
_URL = "https://github.com/{OWNER}/{REPO}/releases/download/{TAG}/"
_SOURCE = {
    "docs_url": f"{_URL}rules_executorch.docs.tar.gz",
    "integrity": "",
    "strip_prefix": "",
    "url": f"{_URL}rules_executorch.tar.gz",
}
_PRESUBMIT = """\
bcr_test_module:
  module_path: app
  tasks:
    app: {platform: debian12, bazel: 8.x, test_targets: ["//..."]}
"""
_TEST_MODULE = """\
bazel_dep(name = "rules_executorch", version = "1.2.3")
local_path_override(module_name = "rules_executorch", path = "..")
"""
_TEMPLATE = {
    "homepage": "https://github.com/OWNER/rules_executorch",
    "maintainers": [],
    "repository": ["github:OWNER/rules_executorch"],
    "versions": [],
    "yanked_versions": {},
}


class EntryTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = Path(self.create_tempdir().full_path)
        files = {
            ".bcr/metadata.template.json": json.dumps(_TEMPLATE),
            ".bcr/presubmit.yml": _PRESUBMIT,
            ".bcr/source.template.json": json.dumps(_SOURCE),
            "CHANGELOG.md": _CHANGELOG,
            "LICENSE": "terms",
            "MODULE.bazel": _MODULE,
            "app/MODULE.bazel": _TEST_MODULE,
            "defs.binaryproto": "docs",
        }
        for name, text in files.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)
        self.archives = [self.root / "rules_executorch.tar.gz", self.root / "rules_executorch.docs.tar.gz"]
        self.enter_context(contextlib.chdir(self.root))
        archive.write([Path("LICENSE"), Path("MODULE.bazel"), Path("app/MODULE.bazel")], self.archives[0])
        archive.write([Path("defs.binaryproto")], self.archives[1])

    def _run(self, **values: object) -> int:
        with flagsaver.flagsaver(archive=str(self.archives[0]), docs=str(self.archives[1]), **values):
            return release.main([])

    def test_first_release(self) -> None:
        self.assertEqual(1, self._run(output=str(self.root / "out")))
        self.assertFalse((self.root / "out").exists())
        maintainers = [
            "github:someone,github_user_id:1,name:Some, One",
            "github:other,github_user_id:2,do_not_notify:true",
        ]
        self.assertEqual(0, self._run(repository="some/rules", maintainer=maintainers, output=str(self.root / "out")))
        metadata = {
            "homepage": "https://github.com/some/rules",
            "maintainers": [
                {"github": "someone", "github_user_id": 1, "name": "Some, One"},
                {"github": "other", "github_user_id": 2, "do_not_notify": True},
            ],
            "repository": ["github:some/rules"],
            "versions": [],
            "yanked_versions": {},
        }
        self.assertEqual(metadata, json.loads((self.root / ".bcr/metadata.template.json").read_text()))
        # The file has the maintainers from now on.
        self.assertEqual(0, self._run(tag="v1.2.3", repository="some/rules"))
        self.assertEqual(1, self._run(tag="v1.2.2"))
        self.assertEqual(1, self._run(repository="fork/rules"))

        module = self.root / "out/registry/modules/rules_executorch"
        self.assertEqual(metadata | {"versions": ["1.2.3"]}, json.loads((module / "metadata.json").read_text()))
        self.assertEqual(_MODULE, (module / "1.2.3/MODULE.bazel").read_text())
        self.assertEqual(_PRESUBMIT, (module / "1.2.3/presubmit.yml").read_text())
        copy = self.root / "out/rules_executorch.tar.gz"
        self.assertEqual(self.archives[0].read_bytes(), copy.read_bytes())
        self.assertEqual(
            {
                "integrity": f"sha256-{base64.b64encode(hashlib.sha256(copy.read_bytes()).digest()).decode()}",
                "strip_prefix": "",
                "url": f"file://{copy}",
            },
            json.loads((module / "1.2.3/source.json").read_text()),
        )
        self.assertEqual("### Added\n\n- A rule.\n", (self.root / "out/release_notes.md").read_text())
        self.assertTrue((self.root / "out/rules_executorch.docs.tar.gz").is_file())

    def test_maintainers_that_the_registry_refuses(self) -> None:
        for value, found in (
            ("someone", "someone: is no field of the registry's schema"),
            ("github:someone", "has no github_user_id"),
            ("github:someone,github_user_id:one", "github_user_id: is 'one', not of the type int"),
            ("name:Some One,github_user_id:1", "has no github"),
        ):
            with self.subTest(value), self.assertRaises(ReleaseError) as caught:
                entry.parse_maintainer(value)
            where, _, said = str(caught.exception).partition(": ")
            self.assertEqual(f"--maintainer={value}", where)
            self.assertIn(found, said.replace("error: ", ""))

    def test_repository(self) -> None:
        before = (self.root / ".bcr/metadata.template.json").read_text()
        for repository in ("", "https://github.com/some/rules", "rules"):
            with self.subTest(repository), self.assertRaises(ReleaseError) as caught:
                entry.fill_metadata(self.root, repository, ["github:someone,github_user_id:1"])
            self.assertEqual(
                f"--repository={repository}: error: is not of the form OWNER/NAME, and --maintainer needs it",
                str(caught.exception).splitlines()[0],
            )
        self.assertEqual(before, (self.root / ".bcr/metadata.template.json").read_text())

    def test_notes(self) -> None:
        self.assertEqual("- Older.\n", entry.notes(_CHANGELOG, "1.2.2"))
        self.assertEqual("", entry.notes(_CHANGELOG, "1.2"))


if __name__ == "__main__":
    absltest.main()
