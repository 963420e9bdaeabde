"""The exception for an emitted program that is wrong."""

from __future__ import annotations

from diagnostics.errors import Finding


class WrongProgramError(Exception):
    """An emitted program is wrong.

    Attributes:
        method: the name of the wrong method.
        finding: the description of the fault, with the line of the model.
    """

    def __init__(self, method: str, finding: Finding) -> None:
        super().__init__(finding.found)
        self.method = method
        self.finding = finding
