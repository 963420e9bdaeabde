"""What a lock is made for. The first line of a lock has the request, as the arguments of the command."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path

HEADER = "# Made by: bazel run @rules_executorch//tools/lock --"
# In a lock, the line with the folder of wheels.
FIND_LINKS = "--find-links="


class LockError(Exception):
    """A lock cannot be made. The message has the finding, the likely cause and the fix."""


@dataclasses.dataclass(frozen=True)
class Request:
    """What to lock, beside the packages of an export.

    Attributes:
        packages: packages in pip's notation, with or without versions.
        executorch: the version of ExecuTorch, minor or full. Empty: that of these rules.
        overrides: requirements that hold in place of those that packages declare, in pip's notation.
        excludes: names of packages that the lock leaves out.
        no_deps: names of packages whose declared dependencies do not count.
        wheels: a folder of wheels, relative to the folder of the lock. May be empty.
    """

    packages: tuple[str, ...] = ()
    executorch: str = ""
    overrides: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    no_deps: tuple[str, ...] = ()
    wheels: str = ""

    def with_changes(
        self,
        *,
        packages: Sequence[str] = (),
        executorch: str | None = None,
        overrides: Sequence[str] | None = None,
        excludes: Sequence[str] | None = None,
        no_deps: Sequence[str] | None = None,
        wheels: str | None = None,
    ) -> Request:
        """Returns the request with other values where values are given. Empty strings in lists count for nothing."""

        def several(values: Sequence[str] | None, old: tuple[str, ...]) -> tuple[str, ...]:
            return old if values is None else tuple(filter(None, values))

        return Request(
            packages=tuple(packages) or self.packages,
            executorch=self.executorch if executorch is None else executorch,
            overrides=several(overrides, self.overrides),
            excludes=several(excludes, self.excludes),
            no_deps=several(no_deps, self.no_deps),
            wheels=self.wheels if wheels is None else wheels,
        )

    def header(self) -> str:
        """Returns the first line of the lock."""
        options = [
            *((f"--executorch={self.executorch}",) if self.executorch else ()),
            *(f"--override={requirement}" for requirement in self.overrides),
            *(f"--exclude={name}" for name in self.excludes),
            *(f"--no_deps={name}" for name in self.no_deps),
            *((f"--wheels={self.wheels}",) if self.wheels else ()),
        ]
        return f"{HEADER} {shlex.join([*options, *self.packages])}"


def of(file: Path) -> Request:
    """Returns the request of a lock, an empty one if the file does not exist.

    Raises:
        LockError: another tool made the lock.
    """
    if not file.exists():
        return Request()
    first = file.read_text().partition("\n")[0]
    if not first.startswith(HEADER):
        raise LockError("another tool made the file; the file is unchanged\n  Fix: give another --output")
    words = shlex.split(first.removeprefix(HEADER))
    values: dict[str, list[str]] = {}
    for word in words:
        name, _, value = word.partition("=") if word.startswith("--") else ("", "", word)
        values.setdefault(name, []).append(value)
    return Request(
        packages=tuple(values.get("", ())),
        executorch="".join(values.get("--executorch", ())),
        overrides=tuple(values.get("--override", ())),
        excludes=tuple(values.get("--exclude", ())),
        no_deps=tuple(values.get("--no_deps", ())),
        wheels="".join(values.get("--wheels", ())),
    )
