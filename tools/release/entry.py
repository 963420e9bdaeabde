"""The entry of a version in a registry, and what the release adds to the template of metadata.json."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.release import template_checks
from tools.release.candidate import ARCHIVE, METADATA, PRESUBMIT, Candidate
from tools.release.problems import Problem, ReleaseError

_FLAG = "--maintainer"


def parse_maintainer(value: str) -> dict[str, Any]:
    """Parses a maintainer of the command line: `github:NAME,github_user_id:NUMBER`, also `name:` and `email:`.

    Raises:
        ReleaseError: the registry would refuse the maintainer.
    """
    fields: dict[str, Any] = {}
    for part in re.split(r",(?=\w+:)", value):
        field, _, text = part.partition(":")
        is_number = field == "github_user_id" and text.isdecimal()
        fields[field] = int(text) if is_number else text == "true" if field == "do_not_notify" else text
    problems = list(template_checks.maintainer(f"{_FLAG}={value}", fields))
    if problems:
        raise ReleaseError(problems)
    return fields


def fill_metadata(root: Path, repository: str, maintainers: Sequence[str]) -> None:
    """Writes the repository and the maintainers to the template of metadata.json.

    Args:
        root: the source tree.
        repository: OWNER/NAME.
        maintainers: values of --maintainer.

    Raises:
        ReleaseError: the repository is missing or has another form, or the registry would refuse a maintainer.
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise ReleaseError(
            Problem(
                f"--repository={repository}",
                f"is not of the form OWNER/NAME, and {_FLAG} needs it",
                "the flag is missing, or has an address.",
                "name the repository on GitHub, as --repository=OWNER/NAME.",
            )
        )
    table = json.loads((root / METADATA).read_text()) | {
        "homepage": f"https://github.com/{repository}",
        "maintainers": [parse_maintainer(value) for value in maintainers],
        "repository": [f"github:{repository}"],
    }
    (root / METADATA).write_text(json.dumps(table, indent=4) + "\n")


def _write_json(path: Path, table: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(table, indent=4) + "\n")


def notes(changelog: str, version: str) -> str:
    """The changelog's section of a version, without its heading."""
    _, found, rest = changelog.partition(f"\n## [{version}]")
    body = re.split(r"^## \[", rest.partition("\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return body.strip() + "\n" if found else ""


def write_registry(candidate: Candidate, root: Path, archive: Path, to: Path) -> None:
    """Writes a registry that has this version only, with the archive of this machine, for --registry=file://...

    Args:
        candidate: the version, which the checks accept.
        root: the source tree.
        archive: the archive, which stays where it is.
        to: the folder of the registry.
    """
    module = to / "modules" / candidate.module["name"]
    version = module / candidate.module["version"]
    _write_json(to / "bazel_registry.json", {})
    _write_json(module / "metadata.json", {**candidate.metadata, "versions": [candidate.module["version"]]})
    digest = base64.b64encode(hashlib.sha256(archive.read_bytes()).digest()).decode()
    _write_json(
        version / "source.json",
        {
            "integrity": f"sha256-{digest}",
            "strip_prefix": candidate.source["strip_prefix"],
            "url": archive.absolute().as_uri(),
        },
    )
    (version / "MODULE.bazel").write_text(candidate.texts["MODULE.bazel"])
    shutil.copy(root / PRESUBMIT, version / "presubmit.yml")


def write(candidate: Candidate, root: Path, files: Sequence[Path], to: Path) -> None:
    """Writes what a release consists of: the archives, `release_notes.md` and `registry`, a registry with this version.

    Args:
        candidate: the version, which the checks accept.
        root: the source tree.
        files: the archive of the module and that of the reference.
        to: the folder.
    """
    to.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, to / file.name)
    (to / "release_notes.md").write_text(notes(candidate.changelog, candidate.module["version"]))
    write_registry(candidate, root, to / ARCHIVE, to / "registry")
