"""The one exception of the export tool."""

from __future__ import annotations

from codegen.errors import Finding, Location

__all__ = ["ExportError", "Finding", "Location"]


class ExportError(Exception):
    """A model that cannot be exported: where, what was found, the likely cause and the fix."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(str(finding))
