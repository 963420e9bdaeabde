"""What linked files register with the runtime, as far as files tell.

ExecuTorch's macro EXECUTORCH_LIBRARY leaves a local symbol `name_of_op_<line>` on the operator's name, which is read
out of the file's data. Whatever else calls `register_kernels()` is found by its name alone. Only ELF files tell this;
in other files nothing is found, and in files without symbols the calls only.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

_MACRO = re.compile(rb"(?:_ZL\d+)?name_of_op_(\d+)")
_REGISTER_KERNELS = re.compile(rb"_ZN10executorch7runtime(?:4aten)?16register_kernelsE\w+")
_REGISTER_BACKEND = b"register_backend"
# What codegen/emit.py lets every library of its own define, whose manifest tells more.
_GENERATED = b"kernel_registered_by_two_libraries"
# Without one of these nothing is registered, and the file need not be followed.
_MARKS = (b"name_of_op_", b"register_kernels")
_SHARED_LIBRARY = 3
_SYMBOL_TABLES = (2, 11)
_FILE = 4
_UNDEFINED = 0


@dataclass(frozen=True, slots=True)
class Registration:
    """One use of EXECUTORCH_LIBRARY.

    Attributes:
        operator: the operator's full name.
        place: the source file's name, without directories, and the line.
    """

    operator: str
    place: str


@dataclass(frozen=True, slots=True)
class Registrations:
    """What a file registers.

    Attributes:
        known: the uses of EXECUTORCH_LIBRARY.
        has_unknown: whether something in it calls `register_kernels()` for kernels that nothing tells of.
    """

    known: tuple[Registration, ...] = ()
    has_unknown: bool = False


def registrations(path: str) -> Registrations:
    """What an object file, an archive of them or a shared library registers; nothing for other or damaged files."""
    data = _map(path)
    try:
        members = [_read(member) for member in _members(data) if any(member.find(mark) >= 0 for mark in _MARKS)]
    except (struct.error, IndexError, ValueError):
        return Registrations()
    return Registrations(
        tuple(registration for member in members for registration in member.known),
        any(member.has_unknown for member in members),
    )


def backends(path: str, names: Collection[str]) -> frozenset[str]:
    """Those of some backends that a file may register: it knows `register_backend()` and has their names as text."""
    data = _map(path)
    if data.find(_REGISTER_BACKEND) < 0:
        return frozenset()
    return frozenset(name for name in names if data.find(name.encode() + b"\0") >= 0)


def _map(path: str) -> mmap.mmap | bytes:
    if Path(path).stat().st_size == 0:
        return b""
    with Path(path).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _members(data: mmap.mmap | bytes) -> Iterator[mmap.mmap | bytes]:
    """The object files of an archive, or the file itself."""
    if data[:8] != b"!<arch>\n":
        yield data
        return
    offset = 8
    while offset + 60 <= len(data):
        size = int(data[offset + 48 : offset + 58])
        yield data[offset + 60 : offset + 60 + size]
        offset += 60 + size + size % 2


def _read(data: mmap.mmap | bytes) -> Registrations:
    if data[:4] != b"\x7fELF":
        return Registrations()
    is_64, order = data[4] == 2, "<" if data[5] == 1 else ">"
    (file_type,) = struct.unpack_from(order + "H", data, 16)
    sections = list(_sections(data, is_64, order))
    known: list[Registration] = []
    calls = is_generated = False
    for kind, _, offset, size, link in sections:
        if kind not in _SYMBOL_TABLES:
            continue
        strings = sections[link][2]
        source = ""
        symbol = struct.Struct(order + ("IBBHQQ" if is_64 else "IIIBBH"))
        for fields in symbol.iter_unpack(data[offset : offset + size]):
            if is_64:
                name_at, info, _, index, value, length = fields
            else:
                name_at, value, length, info, _, index = fields
            name = _text(data, strings + name_at)
            is_generated |= _GENERATED in name
            if info & 0xF == _FILE:
                source = name.decode()
            elif index == _UNDEFINED:
                calls |= _REGISTER_KERNELS.fullmatch(name) is not None
            elif (match := _MACRO.fullmatch(name)) and index < len(sections):
                _, address, start, _, _ = sections[index]
                # In an object file the value counts from the section's beginning, which has no address yet.
                start += value - (address if file_type == _SHARED_LIBRARY else 0)
                operator = data[start : start + length].rstrip(b"\0").decode()
                known.append(Registration(operator, f"{Path(source).name}:{int(match[1])}"))
    return Registrations(tuple(known), calls and not known and not is_generated)


def _sections(data: mmap.mmap | bytes, is_64: bool, order: str) -> Iterator[tuple[int, int, int, int, int]]:
    """Of each section its type, its address, its place in the file, its size, and the section it refers to."""
    (table,) = struct.unpack_from(order + ("Q" if is_64 else "I"), data, 40 if is_64 else 32)
    entry_size, count = struct.unpack_from(order + "HH", data, 58 if is_64 else 46)
    header = struct.Struct(order + ("IIQQQQI" if is_64 else "IIIIIII"))
    if count == 0:  # More sections than the header can say: the first one tells.
        count = header.unpack_from(data, table)[5]
    for section in range(count):
        _, kind, _, address, offset, size, link = header.unpack_from(data, table + section * entry_size)
        yield kind, address, offset, size, link


def _text(data: mmap.mmap | bytes, start: int) -> bytes:
    end = data.find(b"\0", start)
    if end < 0:
        raise ValueError("a name without an end")
    return data[start:end]
