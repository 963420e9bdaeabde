"""Reads ETDump: what ExecuTorch's runtime tells of the runs of a program."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from codegen.inputs.flatbuffer import Buffer

_IDENTIFIER = b"ED00"
# ExecuTorch writes the size before the file proper.
_SIZE_PREFIX = 4

# The numbers of fields as etdump_schema_flatcc.fbs counts them, from the first of each table.
_RUN_DATA = 1
_NAME, _EVENTS = 0, 3
_PROFILE_EVENT = 0
_EVENT_NAME, _INSTRUCTION = 0, 2
_DELEGATE_NUMBER, _DELEGATE_NAME = 3, 4
_START, _END = 6, 7


class NotAnEtdumpError(ValueError):
    """The bytes are no ETDump, or a damaged one."""


@dataclass(frozen=True)
class Part:
    """What a delegate tells of a part of its work.

    Attributes:
        name: the delegate's own name of the part.
        ns: how long the part took.
    """

    name: str
    ns: int


@dataclass(frozen=True)
class Event:
    """One instruction of a method in one run.

    Attributes:
        instruction: its number.
        operator: what the kernel calls itself, e.g. `add.out`; empty if the runtime does not tell.
        start: when the instruction began, in nanoseconds.
        end: when the instruction ended.
        parts: what a delegate tells of the instruction.
    """

    instruction: int
    operator: str
    start: int
    end: int
    parts: tuple[Part, ...]

    @property
    def ns(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class Run:
    """One run of a method.

    Attributes:
        start: when the run began, in nanoseconds.
        end: when the run ended.
        events: its instructions, in the order in which they ran.
    """

    start: int
    end: int
    events: tuple[Event, ...]

    @property
    def ns(self) -> int:
        return self.end - self.start


def read(content: bytes) -> list[Run]:
    """The runs of methods; what else an ETDump has is left out, such as the loading of a method.

    Raises:
        NotAnEtdumpError: the bytes are no ETDump.
    """
    try:
        return list(_runs(content))
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        raise NotAnEtdumpError(str(error)) from error


def _runs(content: bytes) -> Iterator[Run]:
    data = memoryview(content)
    if bytes(data[_SIZE_PREFIX + 4 : _SIZE_PREFIX + 8]) == _IDENTIFIER:
        data = data[_SIZE_PREFIX:]
    file = Buffer(data)
    if not file.has_identifier(_IDENTIFIER):
        raise ValueError("the identifier of an ETDump is missing")
    for block in file.tables(file.vector(file.field(file.root, _RUN_DATA))):
        if file.text(file.vector(file.field(block, _NAME))) == "Execute":
            yield _run(file, data, block)


def _run(file: Buffer, data: memoryview, block: int) -> Run:
    start = end = 0
    operator = ""
    parts: list[Part] = []
    events: list[Event] = []
    for event in file.tables(file.vector(file.field(block, _EVENTS))):
        field = file.field(event, _PROFILE_EVENT)
        if field is None:
            continue
        profile = file.follow(field)
        name = file.text(file.vector(file.field(profile, _EVENT_NAME)))
        begins, ends = (_uint64(data, file.field(profile, number)) for number in (_START, _END))
        part = file.text(file.vector(file.field(profile, _DELEGATE_NAME)))
        number = file.field(profile, _DELEGATE_NUMBER)
        # Events end from the inside out: kernels and what a delegate does come before their call.
        if part or number is not None:
            parts.append(Part(part or str(file.int32(number)), ends - begins))
        elif name.startswith("native_call_"):
            operator = name.removeprefix("native_call_")
        elif name in ("OPERATOR_CALL", "DELEGATE_CALL"):
            instruction = file.int32(file.field(profile, _INSTRUCTION))
            events.append(Event(instruction, operator, begins, ends, tuple(parts)))
            operator, parts = "", []
        elif name == "Method::execute":
            start, end = begins, ends
    return Run(start, end, tuple(events))


def _uint64(data: memoryview, place: int | None) -> int:
    return 0 if place is None else int(struct.unpack_from("<Q", data, place)[0])
