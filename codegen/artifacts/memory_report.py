"""The JSON of a memory report, which says what holds the memory that a program needs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from codegen.artifacts import json_file

_FORMAT = json_file.Format(".json", "a memory report", "et_memory_report")


@dataclass(frozen=True, slots=True)
class PlannedTensor:
    """A place in planned memory and its content.

    Attributes:
        name: the kind of content: `input 0`, `output 1`, `state k_cache`, or empty for the result of an instruction.
        tensor: the dtype and the sizes: `float32 [1, 10]`; with dynamic shapes, the upper bounds.
        memory: the number of the planned memory, from 1.
        offset: the offset there, in bytes.
        bytes: the size in bytes.
        first: the number of the first instruction that needs the place.
        last: the number of the last one.
    """

    name: str
    tensor: str
    memory: int
    offset: int
    bytes: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Port:
    """An input or an output.

    Attributes:
        name: `input 0` or `output 0`.
        tensor: the dtype and the sizes.
        bytes: the size in bytes.
        is_planned: whether the planned memory has the tensor. If not, the memory is the application's.
    """

    name: str
    tensor: str
    bytes: int
    is_planned: bool


@dataclass(frozen=True, slots=True)
class Method:
    """The memory of a method.

    Attributes:
        name: the name.
        memories: the sizes of the planned memories, from number 1 on, in bytes.
        instructions: a text for each instruction: the operator, and the line of Python if it is known.
        in_use: the bytes of planned memory that are in use at each instruction.
        tensors: the contents of planned memory, sorted by the first instruction.
        ports: the inputs and outputs that are tensors.
        backends: the backends to which the method delegates. They have memory of their own.
    """

    name: str
    memories: tuple[int, ...]
    instructions: tuple[str, ...]
    in_use: tuple[int, ...]
    tensors: tuple[PlannedTensor, ...]
    ports: tuple[Port, ...]
    backends: tuple[str, ...]

    @property
    def planned(self) -> int:
        """The bytes of all planned memories."""
        return sum(self.memories)

    @property
    def peak(self) -> int:
        """The number of the first instruction with the most bytes in use; 0 if there are no instructions."""
        return max(range(len(self.in_use)), key=lambda number: self.in_use[number], default=0)

    @property
    def peak_bytes(self) -> int:
        """The bytes that are in use at the peak."""
        return max(self.in_use, default=0)

    @property
    def at_peak(self) -> tuple[PlannedTensor, ...]:
        """The contents of planned memory at the peak, the largest first."""
        found = [tensor for tensor in self.tensors if tensor.first <= self.peak <= tensor.last]
        return tuple(sorted(found, key=lambda tensor: (-tensor.bytes, tensor.memory, tensor.offset)))


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant.

    Attributes:
        tensor: the dtype and the sizes.
        bytes: the size in bytes.
        user: the first instruction that reads the constant, as `method: operator, line`.
        is_external: whether another file has the constant.
    """

    tensor: str
    bytes: int
    user: str
    is_external: bool


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Another program, such as the same model for a larger batch.

    Attributes:
        label: the label.
        program_bytes: the size of its file.
        planned: the bytes of planned memory by method.
    """

    label: str
    program_bytes: int
    planned: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The memory that a program needs.

    Attributes:
        label: the program's label.
        program_bytes: the size of the program's file.
        weights_bytes: the size of the files with the constants that the program does not have; 0 for none.
        methods: the methods.
        constants: the constants of all methods, the largest first.
        what_if: other programs, to compare with.
    """

    label: str
    program_bytes: int
    weights_bytes: int
    methods: tuple[Method, ...]
    constants: tuple[Constant, ...]
    what_if: tuple[WhatIf, ...] = ()

    @property
    def largest(self) -> Method | None:
        """The method with the most planned memory; None if the program has no method."""
        return max(self.methods, key=lambda method: method.planned, default=None)

    @property
    def planned(self) -> int:
        """The bytes of planned memory of the method with the most."""
        return self.largest.planned if self.largest else 0

    @property
    def bytes(self) -> int:
        """The bytes of the program's files and of the planned memory of the method with the most."""
        return self.program_bytes + self.weights_bytes + self.planned

    @property
    def constant_bytes(self) -> int:
        """The bytes of the constants in the program's file."""
        return sum(constant.bytes for constant in self.constants if not constant.is_external)


def write(report: MemoryReport) -> str:
    """Returns the JSON. Equal reports give equal text."""
    content = asdict(report) | {"bytes": report.bytes, "planned": report.planned}
    for method, entry in zip(report.methods, content["methods"], strict=True):
        entry.update(planned=method.planned, peak=method.peak, peak_bytes=method.peak_bytes)
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read(path: str) -> MemoryReport:
    """Reads a report, without what_if.

    Raises:
        InputError: `write` did not write the file.
    """
    return json_file.read(path, _FORMAT, _parse)


def _parse(content: Any) -> MemoryReport:
    return MemoryReport(
        str(content["label"]),
        int(content["program_bytes"]),
        int(content["weights_bytes"]),
        tuple(map(_method, content["methods"])),
        tuple(Constant(**constant) for constant in content["constants"]),
    )


def _method(content: Any) -> Method:
    return Method(
        str(content["name"]),
        tuple(content["memories"]),
        tuple(content["instructions"]),
        tuple(content["in_use"]),
        tuple(PlannedTensor(**tensor) for tensor in content["tensors"]),
        tuple(Port(**port) for port in content["ports"]),
        tuple(content["backends"]),
    )
