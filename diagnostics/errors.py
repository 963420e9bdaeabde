"""What every tool reports of bad input: what is wrong, where, the likely cause, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file. Lines and columns count from 1; a line of 0 means the file as a whole."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with the input.

    Attributes:
        where: a file's location, or the label or flag that the input came through.
        found: what is wrong, as one sentence.
        cause: the likely cause, as one sentence.
        fix: what to do, as one sentence.
        details: further lines to show, one item each.
        id: the name of this kind of finding, which docs/errors.md explains; a file of diagnostics/errors.
    """

    where: Location | str
    found: str
    cause: str
    fix: str
    details: tuple[str, ...] = ()
    _: KW_ONLY
    id: str

    def __str__(self) -> str:
        lines = [f"{self.where}: error: {self.found}"]
        lines += [f"    {detail}" for detail in self.details]
        lines.append(f"  Likely cause: {self.cause}")
        lines.append(f"  Fix: {self.fix}")
        lines.append(f"  See: docs/errors.md#{self.id}")
        return "\n".join(lines)


class InputError(Exception):
    """Bad input. Carries every finding of the step that failed, so that one run shows them all."""

    def __init__(self, findings: Finding | Sequence[Finding]) -> None:
        self.findings: tuple[Finding, ...] = (findings,) if isinstance(findings, Finding) else tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))
