"""Tests of the checks: a version without mistakes, and each mistake in it."""

from __future__ import annotations

import dataclasses
import tarfile
from pathlib import Path
from typing import Any

from absl.testing import absltest

from tools.release import archive, candidate, registry_rules, release
from tools.release.candidate import Candidate
from tools.release.problems import ReleaseError

_MODULE = """\
module(
    name = "rules_executorch",
    version = "1.2.3",
    bazel_compatibility = [">=7.4.0"],
)

bazel_dep(name = "platforms", version = "0.0.10")
bazel_dep(name = "stardoc", dev_dependency = True)

executorch = use_extension("//rules:extensions.bzl", "executorch")
use_repo(executorch, "executorch_python")
"""
_TEST_MODULE = """\
bazel_dep(name = "rules_executorch", version = "1.2.3")
local_path_override(module_name = "rules_executorch", path = "../..")
"""
_RELEASE = "https://github.com/{OWNER}/{REPO}/releases/download/{TAG}/"
_MAINTAINER = {"github": "someone", "github_user_id": 1}
_METADATA = {
    "homepage": "https://github.com/some/rules_executorch",
    "maintainers": [_MAINTAINER],
    "repository": ["github:some/rules_executorch"],
    "versions": [],
    "yanked_versions": {},
}
_SOURCE = {
    "docs_url": _RELEASE + "rules_executorch.docs.tar.gz",
    "integrity": "",
    "strip_prefix": "",
    "url": _RELEASE + "rules_executorch.tar.gz",
}
_TASK = {
    "bazel": "${{ bazel }}",
    "build_targets": ["@rules_executorch//codegen"],
    "name": "Targets",
    "platform": "${{ platform }}",
}
_MATRIX = {"bazel": ["7.x", "8.x"], "platform": ["debian12", "macos"]}
_PRESUBMIT: dict[str, Any] = {
    "bcr_test_module": {
        "matrix": _MATRIX,
        "module_path": "examples/app",
        "tasks": {"run": _TASK | {"build_targets": ["//..."]}},
    },
    "matrix": _MATRIX,
    "tasks": {"build": _TASK},
}


def _file(name: str, **attributes: Any) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = 1
    for attribute, value in attributes.items():
        setattr(member, attribute, value)
    return member


_MEMBERS = [
    _file(name)
    for name in ("LICENSE", "MODULE.bazel", "codegen/BUILD.bazel", "examples/app/MODULE.bazel", "rules/defs.bzl")
]
_GOOD = Candidate(
    archive=_MEMBERS,
    texts={"LICENSE": "terms", "MODULE.bazel": _MODULE, "examples/app/MODULE.bazel": _TEST_MODULE},
    docs=[_file("defs.binaryproto")],
    tree_module=_MODULE,
    changelog="# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n\n- Text.\n\n## [1.2.2]\n",
    metadata=_METADATA,
    source=_SOURCE,
    presubmit=_PRESUBMIT,
    tag="v1.2.3",
    repository="some/rules_executorch",
)


def _with_module(text: str) -> Candidate:
    return dataclasses.replace(_GOOD, texts={**_GOOD.texts, "MODULE.bazel": text}, tree_module=text)


def _with_test_module(text: str) -> Candidate:
    return dataclasses.replace(_GOOD, texts={**_GOOD.texts, "examples/app/MODULE.bazel": text})


def _with_metadata(**fields: Any) -> Candidate:
    return dataclasses.replace(_GOOD, metadata={**_METADATA, **fields})


def _with_source(**fields: Any) -> Candidate:
    return dataclasses.replace(_GOOD, source={**_SOURCE, **fields})


def _with_task(**fields: Any) -> Candidate:
    return dataclasses.replace(_GOOD, presubmit={**_PRESUBMIT, "tasks": {"build": {**_TASK, **fields}}})


class ChecksTest(absltest.TestCase):
    def assert_refused(self, version: Candidate, *expected: str) -> None:
        """Asserts the first line of each problem, and that the problems have all parts."""
        found = release.problems(version)
        self.assertEqual(list(expected), [f"{problem.where}: {problem.found}" for problem in found])
        for problem in found:
            self.assertRegex(str(problem), r"^\S.*: error: .+\n  Likely cause: .+\.\n  Fix: .+\.$")

    def test_good(self) -> None:
        self.assert_refused(_GOOD)
        self.assert_refused(dataclasses.replace(_GOOD, repository=""))

    def test_module_file(self) -> None:
        self.assert_refused(
            dataclasses.replace(_GOOD, tree_module="other"),
            "rules_executorch.tar.gz: MODULE.bazel: is not the file of the source tree",
        )
        self.assert_refused(
            dataclasses.replace(_GOOD, tag="v1.2.4"), "MODULE.bazel: version: is 1.2.3, but the tag is v1.2.4"
        )
        self.assert_refused(
            dataclasses.replace(_GOOD, changelog="## [1.2.4]\n"),
            "MODULE.bazel: version: is 1.2.3, but the newest version of CHANGELOG.md is 1.2.4",
        )
        self.assert_refused(
            dataclasses.replace(_GOOD, changelog="## [Unreleased]\n"),
            "MODULE.bazel: version: is 1.2.3, but the newest version of CHANGELOG.md is missing",
        )
        self.assert_refused(
            _with_module(
                _MODULE.replace('    version = "1.2.3",', '    version = "1.2.3",\n    compatibility_level = 1,')
            ),
            "MODULE.bazel: compatibility_level: is an error in Bazel 10 and does nothing since Bazel 8.6",
        )
        self.assert_refused(
            _with_module(_MODULE + 'local_path_override(module_name = "platforms", path = "p")\n'),
            "MODULE.bazel: local_path_override(platforms): does nothing for users of the module, who get another "
            "version than tests do",
        )
        self.assert_refused(
            _with_module(_MODULE + 'bazel_dep(name = "rules_cc")\n'),
            "MODULE.bazel: bazel_dep(rules_cc): has no version",
        )

    def test_module_name_and_version(self) -> None:
        bad = dataclasses.replace(
            _with_module(_MODULE.replace('"1.2.3"', '"1.2 beta"').replace('"rules_executorch"', '"Rules"')),
            changelog="## [1.2 beta]\n",
            tag="v1.2 beta",
            presubmit={"bcr_test_module": _PRESUBMIT["bcr_test_module"]},
        )
        self.assert_refused(
            _renamed_test_module(bad, "Rules", "1.2 beta"),
            "MODULE.bazel: name: 'Rules' is no name of a module",
            "MODULE.bazel: version: '1.2 beta' is no version of a module",
        )

    def test_members(self) -> None:
        for member, found in (
            (
                _file("a", type=tarfile.SYMTYPE, linkname="../b"),
                "a: is a link, a folder or a device, not a regular file",
            ),
            (_file("a", type=tarfile.LNKTYPE), "a: is a link, a folder or a device, not a regular file"),
            (_file("../a"), "../a: is outside of the folder that the archive is extracted to"),
            (_file("a/../../b"), "a/../../b: is outside of the folder that the archive is extracted to"),
            (_file("/a"), "/a: is outside of the folder that the archive is extracted to"),
            (_file("a/x.pyc"), "a/x.pyc: has x.pyc, which a build, an editor or git made"),
            (_file("a/__pycache__/x"), "a/__pycache__/x: has __pycache__, which a build, an editor or git made"),
            (_file("bazel-bin/x"), "bazel-bin/x: has bazel-bin, which a build, an editor or git made"),
            (
                _file("MODULE.bazel.lock"),
                "MODULE.bazel.lock: has MODULE.bazel.lock, which a build, an editor or git made",
            ),
            (_file("rules/defs.bzl"), "rules/defs.bzl: is in the archive 2 times"),
        ):
            with self.subTest(found):
                self.assert_refused(
                    dataclasses.replace(_GOOD, archive=[*_MEMBERS, member]), f"rules_executorch.tar.gz: {found}"
                )

    def test_license(self) -> None:
        self.assert_refused(
            dataclasses.replace(_GOOD, texts={**_GOOD.texts, "LICENSE": "\n"}),
            "rules_executorch.tar.gz: LICENSE: is missing or empty",
        )

    def test_reference(self) -> None:
        where = "rules_executorch.docs.tar.gz"
        self.assert_refused(
            dataclasses.replace(_GOOD, docs=[_file("providers.binaryproto")]),
            f"{where}: defs.binaryproto: is missing, so that the registry shows no rules",
        )
        for member in (_file("rules.md"), _file("empty.binaryproto", size=0)):
            self.assert_refused(
                dataclasses.replace(_GOOD, docs=[*_GOOD.docs, member]),
                f"{where}: {member.name}: is no documentation that starlark_doc_extract wrote",
            )

    def test_metadata(self) -> None:
        where = ".bcr/metadata.template.json"
        self.assert_refused(
            _with_metadata(maintainers=[]),
            f"{where}: maintainers: is empty, and the registry asks for one maintainer or more",
        )
        self.assert_refused(
            dataclasses.replace(
                _with_metadata(homepage="https://github.com/OWNER/r", repository=["github:OWNER/r"]), repository=""
            ),
            f"{where}: has OWNER in the place of the repository's owner",
        )
        self.assert_refused(
            dataclasses.replace(_GOOD, repository="fork/rules_executorch"),
            f"{where}: repository: is ['github:some/rules_executorch'], without github:fork/rules_executorch, which "
            "makes the release",
        )
        self.assert_refused(
            _with_metadata(versions=["1.2.2"], yanked_versions={"1.2.1": "wrong"}),
            f"{where}: versions: is not empty",
            f"{where}: yanked_versions: is not empty",
        )
        self.assert_refused(
            _with_metadata(license="MIT", homepage=1),
            f"{where}: homepage: is 1, not of the type str",
            f"{where}: license: is no field of the registry's schema, which allows no others",
        )
        self.assert_refused(
            dataclasses.replace(_GOOD, metadata={k: v for k, v in _METADATA.items() if k != "homepage"}),
            f"{where}: homepage: is missing",
        )

    def test_maintainers(self) -> None:
        where = ".bcr/metadata.template.json: maintainers[1]"
        for fields, *found in (
            ({"github": "a"}, f"{where}: has no github_user_id"),
            ({"name": "A", "github_user_id": 1}, f"{where}: has no github"),
            ({"github": "@a", "github_user_id": 1}, f"{where}: github: '@a' is no name of an account on GitHub"),
            ({"github": "a", "github_user_id": "1"}, f"{where}: github_user_id: is '1', not of the type int"),
            ({"github": "a", "github_user_id": True}, f"{where}: github_user_id: is True, not of the type int"),
            (
                {"github": "a", "github_user_id": 1, "mail": "x"},
                f"{where}: mail: is no field of the registry's schema, which allows no others",
            ),
        ):
            with self.subTest(found):
                self.assert_refused(_with_metadata(maintainers=[_MAINTAINER, fields]), *map(str, found))

    def test_source(self) -> None:
        where = ".bcr/source.template.json"
        self.assert_refused(_with_source(integrity="sha256-a"), f"{where}: integrity: is not empty")
        self.assert_refused(
            _with_source(strip_prefix="{REPO}-{VERSION}"),
            f"{where}: strip_prefix: is '{{REPO}}-{{VERSION}}', but MODULE.bazel is at the top of "
            "rules_executorch.tar.gz",
        )
        self.assert_refused(
            _with_source(url="https://github.com/{OWNER}/{REPO}/archive/{TAG}.tar.gz"),
            f"{where}: url: is https://github.com/{{OWNER}}/{{REPO}}/archive/{{TAG}}.tar.gz, which the release does "
            "not have",
        )
        misspelt = _with_source(docs_url=_RELEASE.replace("TAG", "TAGS") + "rules_executorch.docs.tar.gz")
        self.assertEqual("{TAGS} is no placeholder.", release.problems(misspelt)[0].cause)
        self.assert_refused(
            _with_source(patches={}), f"{where}: patches: is no field for an archive without patches and overlays"
        )
        without = {field: value for field, value in _SOURCE.items() if field != "docs_url"}
        self.assert_refused(dataclasses.replace(_GOOD, source=without), f"{where}: docs_url: is missing")

    def test_tasks(self) -> None:
        where = ".bcr/presubmit.yml: tasks: build"
        for fields, found in (
            ({"platform": "debian9"}, f"{where}: platform: 'debian9' is no machine of the registry's CI"),
            ({"platform": "${{ os }}"}, f"{where}: platform: '${{{{ os }}}}' is no machine of the registry's CI"),
            ({"platform": ""}, f"{where}: platform: 'nothing' is no machine of the registry's CI"),
            (
                {"platform": "debian11"},
                f"{where}: platform: debian11 has Python 3.9, and these rules need 3.10 to 3.14",
            ),
            ({"bazel": "latest"}, f"{where}: bazel: 'latest' is no version of Bazel"),
            ({"bazel": ""}, f"{where}: bazel: 'nothing' is no version of Bazel"),
            ({"bazel": "6.x"}, f"{where}: bazel: 6.x is older than bazel_compatibility of MODULE.bazel allows"),
            ({"build_target": []}, f"{where}: build_target: is no field of a task"),
            ({"build_targets": []}, f"{where}: builds and tests nothing"),
            ({"build_targets": ["//codegen"]}, f"{where}: //codegen: is no target of rules_executorch.tar.gz"),
            (
                {"build_targets": ["@rules_executorch//gone"]},
                f"{where}: @rules_executorch//gone: is no target of rules_executorch.tar.gz",
            ),
        ):
            with self.subTest(found):
                self.assert_refused(_with_task(**fields), found)
        self.assert_refused(_with_task(bazel="7.4.0", platform="ubuntu2404"))

    def test_no_tasks(self) -> None:
        self.assert_refused(
            dataclasses.replace(_GOOD, presubmit={"bcr_test_module": {"module_path": "examples/app"}}),
            ".bcr/presubmit.yml: tasks: is empty, and the registry asks for one task or more",
        )

    def test_matrix_of_the_test_module(self) -> None:
        module = {**_PRESUBMIT["bcr_test_module"], "matrix": {**_MATRIX, "platform": ["debian11", "debian12"]}}
        self.assert_refused(
            dataclasses.replace(_GOOD, presubmit={**_PRESUBMIT, "bcr_test_module": module}),
            ".bcr/presubmit.yml: bcr_test_module: tasks: run: platform: debian11 has Python 3.9, and these rules need "
            "3.10 to 3.14",
        )

    def test_test_module(self) -> None:
        where = ".bcr/presubmit.yml: bcr_test_module: module_path"
        for path in ("examples/gone", ""):
            module = {**_PRESUBMIT["bcr_test_module"], "module_path": path}
            self.assert_refused(
                dataclasses.replace(_GOOD, presubmit={**_PRESUBMIT, "bcr_test_module": module}),
                f"{where}: {path or 'nothing'!r} is no folder of rules_executorch.tar.gz with a MODULE.bazel",
            )
        where = "examples/app/MODULE.bazel"
        self.assert_refused(
            _with_test_module(_TEST_MODULE.replace("1.2.3", "1.2.2")),
            f"{where}: depends on rules_executorch 1.2.2, not on 1.2.3",
        )
        self.assert_refused(
            _with_test_module(_TEST_MODULE.replace("bazel_dep", "other")),
            f"{where}: depends on rules_executorch (not at all), not on 1.2.3",
        )
        self.assert_refused(
            _with_test_module(_TEST_MODULE.replace('"../.."', '".."')),
            f"{where}: has the local_path_override .. for rules_executorch, which is not the top of the archive",
        )
        self.assert_refused(
            _with_test_module(_TEST_MODULE.partition("\n")[0]),
            f"{where}: has no local_path_override for rules_executorch, which is not the top of the archive",
        )

    def test_platforms_have_names_of_the_registry(self) -> None:
        for platform in registry_rules.PLATFORMS:
            self.assertRegex(platform, r"^(?:debian|fedora|macos|rockylinux|ubuntu|windows)\w*$")


def _renamed_test_module(version: Candidate, name: str, number: str) -> Candidate:
    text = _TEST_MODULE.replace("rules_executorch", name).replace("1.2.3", number)
    return dataclasses.replace(version, texts={**version.texts, "examples/app/MODULE.bazel": text})


class ReadTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = Path(self.create_tempdir().full_path)
        self.archive = self.root / "rules_executorch.tar.gz"
        for name, text in {
            ".bcr/metadata.template.json": "{}",
            ".bcr/presubmit.yml": "tasks: {}",
            ".bcr/source.template.json": "{}",
            "CHANGELOG.md": _GOOD.changelog,
            "LICENSE": "terms",
            "MODULE.bazel": _MODULE,
        }.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)

    def _read(self, *names: str) -> Candidate:
        tar = self.archive
        with tarfile.open(tar, "w:gz") as opened:
            for name in names:
                opened.add(self.root / name, name)
        return candidate.read(self.root, tar, tar)

    def _assert_unreadable(self, file: str, text: str, found: str) -> None:
        (self.root / file).write_text(text)
        with self.assertRaises(ReleaseError) as caught:
            self._read("LICENSE", "MODULE.bazel")
        self.assertIn(f"{file}: error: {found}", str(caught.exception).splitlines()[0])

    def test_read(self) -> None:
        version = self._read("LICENSE", "MODULE.bazel")
        self.assertEqual(("v1.2.3", "1.2.3"), (version.tag, version.module["version"]))
        self.assertEqual({"LICENSE": "terms", "MODULE.bazel": _MODULE}, dict(version.texts))

    def test_folder_around_the_module(self) -> None:
        with self.assertRaises(ReleaseError) as caught:
            self._read("LICENSE")
        self.assertEqual(
            "rules_executorch.tar.gz: error: has no MODULE.bazel at the top", str(caught.exception).splitlines()[0]
        )

    def test_templates_that_cannot_be_read(self) -> None:
        self._assert_unreadable(".bcr/metadata.template.json", "{", "cannot be read: Expecting property name")
        (self.root / ".bcr/metadata.template.json").write_text("{}")
        self._assert_unreadable(".bcr/presubmit.yml", "a: [", "cannot be read: while parsing a flow")
        self._assert_unreadable(".bcr/presubmit.yml", "- a", "is not a table")

    def test_archive(self) -> None:
        """The bytes do not depend on times, owners and the order of the files."""
        (self.root / "sub").mkdir()
        (self.root / "sub/a.txt").write_text("#!/bin/sh\n")
        first, second = self.root / "1.tar.gz", self.root / "2.tar.gz"
        (self.root / "__pycache__").mkdir()
        (self.root / "__pycache__/a.pyc").touch()
        files = [self.root / "LICENSE", self.root / "sub/a.txt"]
        archive.write([*files, self.root / "__pycache__/a.pyc"], first, flat=True)
        files[0].touch()
        archive.write(files[::-1], second, flat=True)
        self.assertEqual(first.read_bytes(), second.read_bytes())
        with tarfile.open(first) as opened:
            self.assertEqual([("LICENSE", 0o644), ("a.txt", 0o755)], [(m.name, m.mode) for m in opened.getmembers()])


if __name__ == "__main__":
    absltest.main()
