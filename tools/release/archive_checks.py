"""Checks of the archives: the module file, what is in the archive and what must not be, and the reference."""

from __future__ import annotations

import fnmatch
import posixpath
from collections import Counter
from collections.abc import Iterator

from tools.release import registry_rules
from tools.release.candidate import ARCHIVE, DOCS, Candidate, calls, newest_version
from tools.release.problems import Problem

# What builds, editors and version control leave behind.
_JUNK = (
    "*.orig",
    "*.pyc",
    "*.rej",
    "*.swp",
    "*~",
    ".DS_Store",
    ".git",
    "MODULE.bazel.lock",
    "__pycache__",
    "bazel-*",
    "user.bazelrc",
)
_OVERRIDES = (
    "archive_override",
    "git_override",
    "local_path_override",
    "multiple_version_override",
    "single_version_override",
)


def module_file(candidate: Candidate) -> Iterator[Problem]:
    """The archive's MODULE.bazel: the tree's, with a name and a version that agree with the changelog and the tag."""
    if candidate.texts["MODULE.bazel"] != candidate.tree_module:
        yield Problem(
            f"{ARCHIVE}: MODULE.bazel",
            "is not the file of the source tree",
            "the archive is of another commit.",
            "build //tools/release:archive again.",
        )
    module = candidate.module
    name, version = str(module.get("name", "")), str(module.get("version", ""))
    if not registry_rules.MODULE_NAME.fullmatch(name):
        yield Problem(
            "MODULE.bazel: name",
            f"{name!r} is no name of a module",
            "the name has other characters than a-z, 0-9, dots, hyphens and underscores.",
            "rename the module.",
        )
    if not registry_rules.MODULE_VERSION.fullmatch(version):
        yield Problem(
            "MODULE.bazel: version",
            f"{version!r} is no version of a module",
            "the version has another form than RELEASE[-PRERELEASE].",
            "write a version such as 1.2.3 or 1.2.3-rc1.",
        )
    newest = newest_version(candidate.changelog)
    if version != newest:
        yield Problem(
            "MODULE.bazel: version",
            f"is {version}, but the newest version of CHANGELOG.md is {newest or 'missing'}",
            "one of the files was not edited for the release.",
            "give both files the version of the release.",
        )
    if candidate.tag != f"v{version}":
        yield Problem(
            "MODULE.bazel: version",
            f"is {version}, but the tag is {candidate.tag}",
            "the tag names another version, or was set on another commit.",
            f"tag the commit as v{version}.",
        )
    if "compatibility_level" in module:
        yield Problem(
            "MODULE.bazel: compatibility_level",
            "is an error in Bazel 10 and does nothing since Bazel 8.6",
            "the attribute is of an older version.",
            "remove the attribute.",
        )
    for function, arguments in calls(candidate.texts["MODULE.bazel"]):
        dependency = arguments.get("name", arguments.get("module_name", ""))
        if function in _OVERRIDES:
            yield Problem(
                f"MODULE.bazel: {function}({dependency})",
                "does nothing for users of the module, who get another version than tests do",
                "the override is left from a trial.",
                "remove the override.",
            )
        if function == "bazel_dep" and not arguments.get("version") and not arguments.get("dev_dependency"):
            yield Problem(
                f"MODULE.bazel: bazel_dep({dependency})",
                "has no version",
                "an override gave the version.",
                "write the oldest version of the dependency that works.",
            )


def _is_outside(name: str) -> bool:
    return name.startswith("/") or posixpath.normpath(name).split("/")[0] == ".."


def members(candidate: Candidate) -> Iterator[Problem]:
    """The archive's members: regular files below the top, each once, without what builds leave behind."""
    for member in candidate.archive:
        where = f"{ARCHIVE}: {member.name}"
        if not member.isreg():
            yield Problem(
                where,
                "is a link, a folder or a device, not a regular file",
                "a source is a symbolic link.",
                "replace the link by its file.",
            )
        if _is_outside(member.name):
            yield Problem(
                where,
                "is outside of the folder that the archive is extracted to",
                "a file of another repository is part of //:distribution.",
                "remove the file from the filegroup `distribution` of its package.",
            )
        junk = [part for part in member.name.split("/") if any(fnmatch.fnmatch(part, pattern) for pattern in _JUNK)]
        if junk:
            yield Problem(
                where,
                f"has {junk[0]}, which a build, an editor or git made",
                "a glob of a filegroup `distribution` takes files that git ignores.",
                "exclude the file in the glob, or delete it.",
            )
    for name, count in Counter(member.name for member in candidate.archive).items():
        if count > 1:
            yield Problem(
                f"{ARCHIVE}: {name}",
                f"is in the archive {count} times",
                "two filegroups `distribution` have the file.",
                "remove the file from one of them.",
            )
    if not candidate.texts.get("LICENSE", "").strip():
        yield Problem(
            f"{ARCHIVE}: LICENSE",
            "is missing or empty",
            "the file is no longer in //:distribution.",
            "add the file to the filegroup.",
        )


def reference(candidate: Candidate) -> Iterator[Problem]:
    """The archive of the reference: files of starlark_doc_extract only, and one for rules/defs.bzl."""
    for member in candidate.docs:
        if not member.isreg() or not member.name.endswith(".binaryproto") or not member.size:
            yield Problem(
                f"{DOCS}: {member.name}",
                "is no documentation that starlark_doc_extract wrote",
                "//tools/reference:public has other targets, or the module has no docstring.",
                "leave only targets of starlark_doc_extract for public modules in the filegroup.",
            )
    if "defs.binaryproto" not in {member.name for member in candidate.docs}:
        yield Problem(
            f"{DOCS}: defs.binaryproto",
            "is missing, so that the registry shows no rules",
            "the target of rules/defs.bzl is no longer in //tools/reference:public.",
            "add the target to the filegroup.",
        )
