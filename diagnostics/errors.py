"""What every tool reports of bad input: what is wrong, where, the likely cause, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

# What is shown at most: of a text, of the details of a finding, of the findings of a step.
MAX_TEXT = 2000
MAX_DETAILS = 200
MAX_FINDINGS = 50


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
        id: the name of this kind of finding, which docs/errors.md explains; a file of diagnostics/kinds.
        severity: `error`, or `warning` for what a build goes on with.
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
    """Bad input. Carries every finding of the step that failed, so that one run shows them all."""

    def __init__(self, findings: Finding | Sequence[Finding]) -> None:
        self.findings: tuple[Finding, ...] = (findings,) if isinstance(findings, Finding) else tuple(findings)
        texts = [str(finding) for finding in self.findings[:MAX_FINDINGS]]
        if len(self.findings) > MAX_FINDINGS:
            texts.append(f"and {len(self.findings) - MAX_FINDINGS} more errors")
        super().__init__("\n".join(texts))


def shown(text: str) -> str:
    """A text as a message has it: without the middle of a long one, and with escapes for what a terminal hides."""
    if len(text) > MAX_TEXT:
        left_out = len(text) - MAX_TEXT
        text = f"{text[: MAX_TEXT // 2]} ... [{left_out:,} characters] ... {text[-MAX_TEXT // 2 :]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
