"""Checks of the templates of metadata.json and source.json."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tools.release import registry_rules
from tools.release.candidate import ARCHIVE, DOCS, METADATA, SOURCE, Candidate
from tools.release.problems import Problem

HOW_TO_FILL = (
    "run tools/bazel run //tools/release with --repository=OWNER/NAME and "
    "--maintainer=github:NAME,github_user_id:NUMBER"
)


def _fields(where: str, table: Mapping[str, Any], known: Mapping[str, type]) -> Iterator[Problem]:
    """The fields of a table: known ones, of their types."""
    for field, value in table.items():
        if field not in known:
            yield Problem(
                f"{where}: {field}",
                "is no field of the registry's schema, which allows no others",
                "the name is misspelt.",
                f"use one of {', '.join(sorted(known))}.",
            )
        elif not isinstance(value, known[field]) or (known[field] is int and isinstance(value, bool)):
            yield Problem(
                f"{where}: {field}",
                f"is {value!r}, not of the type {known[field].__name__}",
                "a number or a word is in quotes, or lacks them.",
                f"write a value of the type {known[field].__name__}.",
            )


def maintainer(where: str, fields: Mapping[str, Any]) -> Iterator[Problem]:
    """One maintainer."""
    yield from _fields(where, fields, registry_rules.MAINTAINER_FIELDS)
    for field in registry_rules.MAINTAINER_REQUIRED:
        if field not in fields:
            yield Problem(
                where,
                f"has no {field}",
                "the registry knows maintainers by their accounts on GitHub, and accounts by their numbers.",
                f"add {field}; GitHub's API shows both for a user.",
            )
    name = fields.get("github", "x")
    if not registry_rules.GITHUB_NAME.fullmatch(str(name)):
        yield Problem(
            f"{where}: github",
            f"{name!r} is no name of an account on GitHub",
            "the value is an address or a full name.",
            "write the name of the account, without @.",
        )


def metadata(candidate: Candidate) -> Iterator[Problem]:
    """metadata.template.json: the registry's schema, with maintainers and a repository."""
    table = candidate.metadata
    yield from _fields(METADATA, table, registry_rules.METADATA_FIELDS)
    for field in registry_rules.METADATA_REQUIRED:
        if field not in table:
            yield Problem(f"{METADATA}: {field}", "is missing", "the field was deleted.", f"{HOW_TO_FILL}.")
    if "OWNER" in f"{table.get('homepage')} {table.get('repository')}":
        yield Problem(
            METADATA,
            "has OWNER in the place of the repository's owner",
            "no version was released before.",
            f"{HOW_TO_FILL}.",
        )
    if not table.get("maintainers"):
        yield Problem(
            f"{METADATA}: maintainers",
            "is empty, and the registry asks for one maintainer or more",
            "no version was released before.",
            f"{HOW_TO_FILL}, once for each maintainer.",
        )
    maintainers = table.get("maintainers")
    for number, fields in enumerate(maintainers if isinstance(maintainers, list) else ()):
        where = f"{METADATA}: maintainers[{number}]"
        yield from maintainer(where, fields if isinstance(fields, dict) else {})
    for field in ("versions", "yanked_versions"):
        if table.get(field):
            yield Problem(
                f"{METADATA}: {field}",
                "is not empty",
                "the values were copied from the registry.",
                "leave the field empty: the registry's own file has the values.",
            )
    expected = f"github:{candidate.repository}"
    if candidate.repository and expected not in table.get("repository", ()):
        yield Problem(
            f"{METADATA}: repository",
            f"is {table.get('repository')}, without {expected}, which makes the release",
            "the release runs in a fork, or the repository was renamed.",
            f"release from the repository of the file, or {HOW_TO_FILL}.",
        )


def source(candidate: Candidate) -> Iterator[Problem]:
    """source.template.json: files of the release, the archive's prefix, and nothing that publishing fills."""
    table = candidate.source
    for field in sorted(registry_rules.SOURCE_FIELDS ^ table.keys()):
        unknown = field in table
        yield Problem(
            f"{SOURCE}: {field}",
            "is no field for an archive without patches and overlays" if unknown else "is missing",
            "the field is misspelt or of another kind of source." if unknown else "the field was deleted.",
            f"the fields are {', '.join(sorted(registry_rules.SOURCE_FIELDS))}.",
        )
    for field, file in (("url", ARCHIVE), ("docs_url", DOCS)):
        expected = registry_rules.RELEASE_URL + file
        if field in table and table[field] != expected:
            unknown_names = set(re.findall(r"\{(\w+)\}", str(table[field]))) - registry_rules.PLACEHOLDERS
            cause = f"{{{sorted(unknown_names)[0]}}} is no placeholder" if unknown_names else "the file was renamed"
            yield Problem(
                f"{SOURCE}: {field}",
                f"is {table[field]}, which the release does not have",
                f"{cause}.",
                f"write {expected}.",
            )
    if table.get("integrity"):
        yield Problem(
            f"{SOURCE}: integrity",
            "is not empty",
            "the value is of another version.",
            "leave the value empty: publishing computes it.",
        )
    if table.get("strip_prefix") not in (None, ""):
        yield Problem(
            f"{SOURCE}: strip_prefix",
            f"is {table['strip_prefix']!r}, but MODULE.bazel is at the top of {ARCHIVE}",
            "the value is for archives that GitHub makes.",
            "leave the value empty.",
        )
