"""What becomes a version of the module: its archives, the templates of its entry in the registry, and its tag."""

from __future__ import annotations

import ast
import json
import re
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.release.problems import Problem, ReleaseError

ARCHIVE = "rules_executorch.tar.gz"
DOCS = "rules_executorch.docs.tar.gz"
METADATA = ".bcr/metadata.template.json"
SOURCE = ".bcr/source.template.json"
PRESUBMIT = ".bcr/presubmit.yml"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version before its release.

    Attributes:
        archive: the members of the archive, in their order.
        texts: the contents of the archive's regular files that checks read: by name.
        docs: the members of the archive of the reference.
        tree_module: MODULE.bazel of the source tree.
        changelog: CHANGELOG.md of the source tree.
        metadata: the template of metadata.json.
        source: the template of source.json.
        presubmit: presubmit.yml.
        tag: the tag of the release.
        repository: the repository on GitHub that makes the release, as OWNER/NAME; empty if not known.
    """

    archive: Sequence[tarfile.TarInfo]
    texts: Mapping[str, str]
    docs: Sequence[tarfile.TarInfo]
    tree_module: str
    changelog: str
    metadata: Mapping[str, Any]
    source: Mapping[str, Any]
    presubmit: Mapping[str, Any]
    tag: str
    repository: str

    @property
    def names(self) -> frozenset[str]:
        """The names of the archive's members."""
        return frozenset(member.name for member in self.archive)

    @property
    def module(self) -> Mapping[str, Any]:
        """The attributes of module() in the archive's MODULE.bazel that are literals."""
        return next((attributes for name, attributes in calls(self.texts["MODULE.bazel"]) if name == "module"), {})


def calls(module_file: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a MODULE.bazel at the top level: each function, and its keyword arguments that are literals.

    The registry's own validation reads these files as Python, too.
    """
    found = []
    for statement in ast.parse(module_file).body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            arguments = {}
            for keyword in call.keywords:
                try:
                    arguments[str(keyword.arg)] = ast.literal_eval(keyword.value)
                except ValueError:
                    continue
            found.append((call.func.id, arguments))
    return found


def newest_version(changelog: str) -> str:
    """The newest version of the changelog; empty if there is none."""
    match = re.search(r"^## \[(\d[^\]]*)\]", changelog, re.MULTILINE)
    return match[1] if match else ""


def _template(root: Path, name: str) -> dict[str, Any]:
    try:
        text = (root / name).read_text()
        read = json.loads(text) if name.endswith(".json") else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ReleaseError(
            Problem(name, f"cannot be read: {error}", "the file was edited by hand.", "correct the file.")
        ) from error
    if not isinstance(read, dict):
        raise ReleaseError(
            Problem(name, "is not a table", "the file was edited by hand.", "restore the file from git.")
        )
    return read


def _members(archive: Path, texts: dict[str, str] | None = None) -> list[tarfile.TarInfo]:
    with tarfile.open(archive) as opened:
        members = opened.getmembers()
        for member in members if texts is not None else ():
            if member.isreg() and member.name.endswith(("MODULE.bazel", "BUILD.bazel", "LICENSE")):
                content = opened.extractfile(member)
                assert texts is not None and content is not None  # The member is a regular file.
                texts[member.name] = content.read().decode()
    return members


def read(root: Path, archive: Path, docs: Path, *, tag: str = "", repository: str = "") -> Candidate:
    """Reads a version.

    Args:
        root: the source tree.
        archive: the archive of the module.
        docs: the archive of the reference.
        tag: the tag of the release; empty for that of the newest version of the changelog.
        repository: the repository on GitHub, as OWNER/NAME, or empty.

    Raises:
        ReleaseError: a file is missing or cannot be read.
    """
    texts: dict[str, str] = {}
    members = _members(archive, texts)
    if "MODULE.bazel" not in texts:
        raise ReleaseError(
            Problem(
                archive.name,
                "has no MODULE.bazel at the top",
                "the archive has a folder around the module.",
                "archive the files under their paths in the repository.",
            )
        )
    changelog = (root / "CHANGELOG.md").read_text()
    return Candidate(
        archive=members,
        texts=texts,
        docs=_members(docs),
        tree_module=(root / "MODULE.bazel").read_text(),
        changelog=changelog,
        metadata=_template(root, METADATA),
        source=_template(root, SOURCE),
        presubmit=_template(root, PRESUBMIT),
        tag=tag or f"v{newest_version(changelog)}",
        repository=repository,
    )
