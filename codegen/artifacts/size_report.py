"""The JSON of a size report, which attributes the bytes of a binary to operators, the runner and other parts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from codegen.artifacts import json_file
from codegen.model.sizes import Part, SharedCode, united

_FORMAT = json_file.Format(".json", "binary size by operator", "et_size_report")


@dataclass(frozen=True, slots=True)
class SharedLibrary:
    """A shared library that a binary needs.

    Attributes:
        name: the file's name.
        bytes: the memory of the library's sections, in bytes.
    """

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Addition:
    """The operators and bytes that the models of another binary would add to a binary.

    Attributes:
        label: the other binary's label.
        operators: the new operators, sorted.
        parts: the new bytes, as `united` returns them.
    """

    label: str
    operators: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        """The number of new bytes."""
        return sum(part.bytes for part in self.parts)


@dataclass(frozen=True, slots=True)
class SizeReport:
    """The attributed bytes of a binary.

    Attributes:
        label: the binary's label.
        parts: all of the binary's bytes, as `united` returns them.
        libraries: the shared libraries that the binary needs, sorted by name.
        what_if: the additions by the models of other binaries.
        shared: the code that kernels share by the operators that use it; empty if this is not known.
    """

    label: str
    parts: tuple[Part, ...]
    libraries: tuple[SharedLibrary, ...]
    what_if: tuple[Addition, ...] = ()
    shared: tuple[SharedCode, ...] = ()

    @property
    def bytes(self) -> int:
        """The number of the binary's bytes, without shared libraries."""
        return sum(part.bytes for part in self.parts)


def write(report: SizeReport) -> str:
    """Returns the JSON. Equal reports give equal text."""
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
        "shared": [
            {
                "bytes": shared.bytes,
                "operators": shared.operators,
                "is_of_program": shared.is_of_program,
                "names": dict(shared.names),
            }
            for shared in report.shared
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read(path: str) -> SizeReport:
    """Reads a report, without what_if and shared.

    Raises:
        InputError: `write` did not write the file.
    """
    return json_file.read(path, _FORMAT, _parse)


def _parse(content: Any) -> SizeReport:
    return SizeReport(
        str(content["label"]),
        united(Part(**part) for part in content["parts"]),
        tuple(SharedLibrary(str(library["name"]), int(library["bytes"])) for library in content["libraries"]),
    )
