"""Findings about bad input: the place, the mistake, the likely cause, and the fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

# The limits of messages: characters of a text, details of a finding, findings of a step.
MAX_TEXT = 2000
MAX_DETAILS = 200
MAX_FINDINGS = 50


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file. Lines and columns count from 1. Line 0 means the whole file."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake in the input.

    Attributes:
        where: the location in a file, or the label or flag of the input.
        found: the mistake, as one sentence.
        cause: the likely cause, as one sentence.
        fix: the fix, as one sentence.
        details: further lines to show.
        id: the kind of finding, a file of diagnostics/kinds. docs/errors.md explains the kinds.
        severity: `error`, or `warning` if the build continues.
    """

    where: Location | str
    found: str
    cause: str
    fix: str
    details: tuple[str, ...] = ()
    _: KW_ONLY
    id: str
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        lines = [f"{shown(str(self.where))}: {self.severity}: {shown(self.found)}"]
        lines += [f"    {shown(detail)}" for detail in self.details[:MAX_DETAILS]]
        if len(self.details) > MAX_DETAILS:
            lines.append(f"    and {len(self.details) - MAX_DETAILS} more")
        lines.append(f"  Likely cause: {shown(self.cause)}")
        lines.append(f"  Fix: {shown(self.fix)}")
        lines.append(f"  See: docs/errors.md#{self.id}")
        return "\n".join(lines)


class InputError(Exception):
    """Bad input. The error has all findings of the failed step, so that one run shows all of them."""

    def __init__(self, findings: Finding | Sequence[Finding]) -> None:
        self.findings: tuple[Finding, ...] = (findings,) if isinstance(findings, Finding) else tuple(findings)
        texts = [str(finding) for finding in self.findings[:MAX_FINDINGS]]
        if len(self.findings) > MAX_FINDINGS:
            texts.append(f"and {len(self.findings) - MAX_FINDINGS} more errors")
        super().__init__("\n".join(texts))

    @classmethod
    def of(
        cls, where: Location | str, found: str, cause: str, fix: str, details: tuple[str, ...] = (), *, id: str
    ) -> InputError:
        """Returns the error with one finding, of these attributes."""
        return cls(Finding(where, found, cause, fix, details, id=id))


def shown(text: str) -> str:
    """Returns a text for a message. Shortens the middle of a long text, and escapes invisible characters."""
    if len(text) > MAX_TEXT:
        left_out = len(text) - MAX_TEXT
        text = f"{text[: MAX_TEXT // 2]} ... [{left_out:,} characters] ... {text[-MAX_TEXT // 2 :]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
