"""The JSON of a size report: what the bytes of a binary are for."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from codegen.artifacts import json_file
from codegen.model.sizes import Part, united

_FORMAT = json_file.Format(".json", "what the bytes of a binary are for", "et_size_report")


@dataclass(frozen=True, slots=True)
class SharedLibrary:
    """A shared library that a binary needs.

    Attributes:
        name: the file's name.
        bytes: the memory that its sections take.
    """

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class SizeReport:
    """What the bytes of a binary are for.

    Attributes:
        label: the binary's label.
        parts: all of the binary's bytes, as `united` gives them.
        libraries: the shared libraries that come with the binary, in the order of their names.
    """

    label: str
    parts: tuple[Part, ...]
    libraries: tuple[SharedLibrary, ...]

    @property
    def bytes(self) -> int:
        """The binary's own bytes, without those of its shared libraries."""
        return sum(part.bytes for part in self.parts)


def write(report: SizeReport) -> str:
    """The JSON; equal reports give equal text."""
    content = {
        "label": report.label,
        "bytes": report.bytes,
        "parts": [asdict(part) for part in report.parts],
        "libraries": [asdict(library) for library in report.libraries],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read(path: str) -> SizeReport:
    """Reads a report.

    Raises:
        InputError: the file is not one that `write` wrote.
    """
    return json_file.read(path, _FORMAT, _parse)


def _parse(content: Any) -> SizeReport:
    return SizeReport(
        str(content["label"]),
        united(Part(**part) for part in content["parts"]),
        tuple(SharedLibrary(str(library["name"]), int(library["bytes"])) for library in content["libraries"]),
    )
