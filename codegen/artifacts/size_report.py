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
class Addition:
    """What a binary would have besides if it had the models of another one.

    Attributes:
        label: the other binary's label.
        operators: those that are new, in order.
        parts: the bytes that are new, as `united` gives them.
    """

    label: str
    operators: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        """How many bytes are new."""
        return sum(part.bytes for part in self.parts)


@dataclass(frozen=True, slots=True)
class SizeReport:
    """What the bytes of a binary are for.

    Attributes:
        label: the binary's label.
        parts: all of the binary's bytes, as `united` gives them.
        libraries: the shared libraries that come with the binary, in the order of their names.
        what_if: what the binary would have besides, for each of other binaries.
    """

    label: str
    parts: tuple[Part, ...]
    libraries: tuple[SharedLibrary, ...]
    what_if: tuple[Addition, ...] = ()

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
        "what_if": [
            {
                "label": addition.label,
                "bytes": addition.bytes,
                "operators": addition.operators,
                "parts": [asdict(part) for part in addition.parts],
            }
            for addition in report.what_if
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read(path: str) -> SizeReport:
    """Reads a report, without what_if.

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
