"""Finds what a version of another Bazel module lacks, in our Starlark and in the Starlark that we write and show.

bazel_modules.toml has what the supported versions of bazel_skylib, rules_cc and rules_python have.
"""

from __future__ import annotations

import collections
import dataclasses
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping

import tomllib

ENDINGS = (".bzl", ".bazel", ".bazel.in", "WORKSPACE", ".py", ".md")
TABLE = pathlib.Path(__file__).with_suffix(".toml")

_SKIPPED = re.compile(r"tools/lint/bazel_\w+\.py|.*_test\.py")  # These have wrong and old labels for tests.
_REPOSITORY = r"@@?(?P<module>bazel_skylib|rules_cc|rules_python)//"
# In strings of Starlark and Python, a backslash is before the quotes.
_LOAD = re.compile(rf'\bload\(\s*\\?"(?P<label>{_REPOSITORY}[^"\\]+)\\?",(?P<names>[^)]*)\)')
_LOADED = re.compile(r'\\?"(\w+)\\?"')
_LABEL = re.compile(rf"(?P<label>{_REPOSITORY}[\w./+-]*(?::[\w./+-]*)?)(?P<rest>[{{%]|\\?\" \+)?")
_VERSION = re.compile(r'\bbazel_dep\(name = \\?"(?P<module>\w+)\\?", version = \\?"(?P<version>[^"\\]+)\\?"')


@dataclasses.dataclass(frozen=True)
class _Row:
    """What the table says of a name.

    Attributes:
        lacks: the versions without it, of `debian`, `lowest` and `newest`.
        only_in: the file that takes `lacks` into account.
        instead: what to write in its place, or nothing.
    """

    lacks: tuple[str, ...] = ()
    only_in: str = ""
    instead: str = ""


class Table:
    """The table of bazel_modules.toml.

    Attributes:
        versions: module to `debian`, `lowest` and `newest` to version.
        names: kind (`load`, `label`, `field`) and object (a .bzl file, nothing, an expression) to names.
        modules: the expression of a field to the module that returns the object.
    """

    def __init__(self, text: str) -> None:
        table = tomllib.loads(text)
        self.versions: Mapping[str, Mapping[str, str]] = table["versions"]
        self.names: dict[tuple[str, str], dict[str, _Row]] = collections.defaultdict(dict)
        self.modules: dict[str, str] = {row["of"]: row["module"] for row in table["row"] if "field" in row["in"]}
        for row in table["row"]:
            for kind in row["in"]:
                entry = _Row(tuple(row.get("lacks", ())), row.get("only_in", ""), row.get("instead", ""))
                self.names[kind, row.get("of", "")] |= dict.fromkeys(row["names"], entry)


def _whole(label: str) -> str:
    """Returns a label with one @ and with the name of its target, and without the full stop of a sentence."""
    label = "@" + label.lstrip("@").rstrip(".")
    return label if ":" in label else f"{label}:{label.rpartition('/')[2]}"


class _File:
    """A file with what the check finds in it."""

    def __init__(self, table: Table, path: str, text: str) -> None:
        self._table = table
        self._path = path
        self._text = text

    def _place(self, position: int) -> str:
        line = self._text.count("\n", 0, position) + 1
        return f"{self._path}:{line}:{position - self._text.rfind(chr(10), 0, position)}"

    def _find(self, position: int, kind: str, of: str, name: str, module: str) -> Iterator[str]:
        """Yields what is wrong with a name: one line at most."""
        shown = {"load": f"{name} of {of}", "label": name, "field": f"{of}.{name}"}[kind]
        found = f"{self._place(position)}: {shown}"
        versions = self._table.versions[module]
        row = self._table.names[kind, of].get(name)
        if row is None:
            yield (
                f"{found} is not in tools/lint/{TABLE.name}: it is new or misspelled; look for it in the sources of "
                f"{module} {', '.join(dict.fromkeys(versions.values()))}, and add it with what you read"
            )
        elif row.instead:
            yield f"{found} is an old name, or loads more than the name needs: write {row.instead}"
        elif row.lacks and row.only_in != self._path:
            yield (
                f"{found} is not in {module} {', '.join(versions[version] for version in row.lacks)}: use "
                f"{row.only_in}, which does without it there"
            )

    def check(self) -> Iterator[str]:
        loads = {match.start("label") for match in _LOAD.finditer(self._text)}
        for match in _LOAD.finditer(self._text):
            for loaded in _LOADED.finditer(match["names"]):
                position = match.start("names") + loaded.start(1)
                yield from self._find(position, "load", _whole(match["label"]), loaded[1], match["module"])
        for match in _LABEL.finditer(self._text):
            if match.start("label") in loads:
                continue
            if match["rest"] or match["label"].endswith((":", "/")):
                yield (
                    f"{self._place(match.start())}: {match['label']} is a part of a label, which nobody can check: "
                    "write the whole label"
                )
            elif ("load", _whole(match["label"])) not in self._table.names:
                yield from self._find(match.start(), "label", "", _whole(match["label"]), match["module"])
        for match in _VERSION.finditer(self._text):
            lowest = self._table.versions.get(match["module"], {}).get("lowest", match["version"])
            if match["version"] != lowest:
                yield (
                    f"{self._place(match.start('version'))}: version {match['version']} of {match['module']} is not "
                    f"the lowest of tools/lint/{TABLE.name}: write {lowest}, or change the table and read what the "
                    "version has"
                )
        if self._path.endswith(".bzl"):
            for of, module in self._table.modules.items():
                for match in re.finditer(rf"(?<!\w){re.escape(of)}\.(?!bzl\b)(\w+)", self._text):
                    yield from self._find(match.start(), "field", of, match[1], module)


def check(tree: pathlib.Path, files: Iterable[str], table: Table | None = None) -> Iterator[str]:
    """Yields a line for each load, label, field and version in the files that the table does not have for all versions.

    Args:
        tree: the root of the repository.
        files: paths in the repository.
        table: what the modules have. Default: bazel_modules.toml.
    """
    table = table or Table(TABLE.read_text())
    for file in files:
        if not _SKIPPED.fullmatch(file):
            yield from _File(table, file, (tree / file).read_text()).check()
