"""Mistakes that keep a version out of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake.

    Attributes:
        where: the file, with the field or the member.
        found: the mistake, as one sentence.
        cause: the likely cause, as one sentence.
        fix: the fix, as one sentence.
    """

    where: str
    found: str
    cause: str
    fix: str

    def __str__(self) -> str:
        return f"{self.where}: error: {self.found}\n  Likely cause: {self.cause}\n  Fix: {self.fix}"


class ReleaseError(Exception):
    """A version that the registry would refuse, with all that is wrong."""

    def __init__(self, problems: Problem | Sequence[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
