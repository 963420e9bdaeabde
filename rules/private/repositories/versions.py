"""The table of versions.bzl, for tools/lock and tests. A run of this file prints the further locks and their pins."""

from __future__ import annotations

import ast
import pathlib
from typing import Any, TypedDict

_FILE = pathlib.Path(__file__).with_name("versions.bzl")


class Version(TypedDict):
    """A row of the table; versions.bzl describes the columns."""

    differs: str
    lock: str
    pins: dict[str, str]
    pythons: list[int]
    runtime: str
    tested: list[str]
    torch: list[str]


def _literal(name: str) -> Any:
    """The value of a variable of versions.bzl, whose syntax is Python's, too."""
    for statement in ast.parse(_FILE.read_text()).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
            return ast.literal_eval(statement.value)
    raise LookupError(f"{_FILE} has no {name}")


VERSIONS: dict[str, Version] = _literal("VERSIONS")
DEFAULT_EXECUTORCH: str = _literal("DEFAULT_EXECUTORCH")


def minor(version: str) -> str:
    """The first two parts of a version."""
    return ".".join(version.split(".")[:2])


if __name__ == "__main__":
    for _minor, _row in VERSIONS.items():
        if _row["lock"] and _minor != DEFAULT_EXECUTORCH:
            print(_row["lock"], *(f"{package}=={version}" for package, version in _row["pins"].items()))
