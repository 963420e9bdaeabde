"""Reads ETDump: what ExecuTorch's runtime tells of the runs of a program."""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from codegen.inputs.flatbuffer import Buffer

_IDENTIFIER = b"ED00"
# ExecuTorch writes the size before the file proper.
_SIZE_PREFIX = 4
_UINT64 = struct.Struct("<Q")
# In nanoseconds, more than a century.
_LATEST = 1 << 62

# The numbers of fields as etdump_schema_flatcc.fbs counts them, from the first of each table.
_RUN_DATA = 1
_NAME, _EVENTS = 0, 3
_PROFILE_EVENT = 0
_EVENT_NAME, _INSTRUCTION = 0, 2
_DELEGATE_NUMBER, _DELEGATE_NAME = 3, 4
_START, _END = 6, 7


class NotAnEtdumpError(ValueError):
    """The bytes are no ETDump, or a damaged one."""


class Kind(enum.Enum):
    """What a run is for."""

    FIRST = "first"
    WARM_UP = "warm-up"
    TIMED = "timed"


# The blocks without events that the runner puts before the first run of a kind.
_MARKS = {"FirstRuns": Kind.FIRST, "WarmUpRuns": Kind.WARM_UP, "TimedRuns": Kind.TIMED}


@dataclass(frozen=True, slots=True)
class Part:
    """What a delegate tells of a part of its work.

    Attributes:
        name: the delegate's own name of the part.
        start: when the part began, in nanoseconds.
        end: when the part ended.
    """

    name: str
    start: int
    end: int

    @property
    def ns(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a method.

    Attributes:
        start: when the run began, in nanoseconds.
        end: when the run ended.
        events: its instructions, in the order in which they ran.
        kind: what the run is for; FIRST if the file does not tell.
        sample: the number of the sample that the run is of; None if the file does not tell.
    """

    start: int
    end: int
    events: tuple[Event, ...]
    kind: Kind = Kind.FIRST
    sample: int | None = None

    @property
    def ns(self) -> int:
        return self.end - self.start


def read(content: bytes) -> Iterator[Run]:
    """The runs of methods, one at a time; what else an ETDump has is left out, such as the loading of a method.

    Raises:
        NotAnEtdumpError: the bytes are no ETDump.
    """
    try:
        yield from _Reader(content).runs()
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        raise NotAnEtdumpError(str(error)) from error


class _Reader:
    """Reads a file. Most texts in it are there again for each run, and are decoded once."""

    def __init__(self, content: bytes) -> None:
        data = memoryview(content)
        self._data = data[_SIZE_PREFIX:] if data[_SIZE_PREFIX + 4 : _SIZE_PREFIX + 8] == _IDENTIFIER else data
        self._file = Buffer(self._data)
        self._texts: dict[bytes, str] = {}
        if not self._file.has_identifier(_IDENTIFIER):
            raise ValueError("the identifier of an ETDump is missing")

    def runs(self) -> Iterator[Run]:
        file = self._file
        kind: Kind | None = None
        counts = dict.fromkeys(Kind, 0)
        for block in file.tables(file.vector(file.field(file.root, _RUN_DATA))):
            name = self._text(file.field(block, _NAME))
            kind = _MARKS.get(name, kind)
            if name != "Execute":
                continue
            if kind is None:
                yield self._run(block, Kind.FIRST, None)
                continue
            # Each sample has one first run; the other runs go through the samples in turn.
            sample = counts[kind] if kind is Kind.FIRST else counts[kind] % max(counts[Kind.FIRST], 1)
            counts[kind] += 1
            yield self._run(block, kind, sample)

    def _run(self, block: int, kind: Kind, sample: int | None) -> Run:
        file = self._file
        start = end = 0
        operator = ""
        parts: list[Part] = []
        events: list[Event] = []
        for event in file.tables(file.vector(file.field(block, _EVENTS))):
            field = file.field(event, _PROFILE_EVENT)
            if field is None:
                continue
            profile = file.follow(field)
            of_name, of_instruction = file.fields(profile, (_EVENT_NAME, _INSTRUCTION))
            name = self._text(of_name)
            if name.startswith("native_call_"):
                operator = name.removeprefix("native_call_")
                continue
            number, of_part = file.fields(profile, (_DELEGATE_NUMBER, _DELEGATE_NAME))
            part = self._text(of_part)
            # Events end from the inside out: kernels and what a delegate does come before their call.
            if part or number is not None:
                parts.append(Part(part or str(file.int32(number)), *self._times(profile)))
            elif name in ("OPERATOR_CALL", "DELEGATE_CALL"):
                events.append(Event(file.int32(of_instruction), operator, *self._times(profile), tuple(parts)))
                operator, parts = "", []
            elif name == "Method::execute":
                start, end = self._times(profile)
        return Run(start, end, tuple(events), kind, sample)

    def _text(self, field: int | None) -> str:
        if field is None:
            return ""
        start, length = self._file.vector(field)
        encoded = bytes(self._data[start : start + length])
        text = self._texts.get(encoded)
        if text is None:
            text = self._texts[encoded] = self._file.text((start, length))
        return text

    def _times(self, profile: int) -> tuple[int, int]:
        """When an event began and ended."""
        start, end = map(self._uint64, self._file.fields(profile, (_START, _END)))
        if max(start, end) > _LATEST:
            raise ValueError("a time that no clock has")
        return start, end

    def _uint64(self, place: int | None) -> int:
        return 0 if place is None else int(_UINT64.unpack_from(self._data, place)[0])
