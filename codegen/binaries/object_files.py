"""Reads the registrations of linked files from their symbols.

ExecuTorch's macro EXECUTORCH_LIBRARY leaves a local symbol `name_of_op_<line>` at the operator's name, which is read
from the file's data. For any other call of `register_kernels()`, only the call is found, not the operator. Only ELF
files are read: in other files, nothing is found, and in files without local symbols only the calls.

The check of a binary reads all object files of the binary, most of which register nothing. This module reads the few
necessary ELF structures itself: pyelftools, which reads binaries for reports, takes 15 times as long.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_MACRO = re.compile(rb"(?:_ZL\d+)?name_of_op_(\d+)")
_REGISTER_KERNELS = re.compile(rb"_ZN10executorch7runtime(?:4aten)?16register_kernelsE\w+")
_REGISTER_BACKEND = (b"executorch7runtime16register_backend", b"executorch7runtime4aten16register_backend")
# The function that returns the kernels of a generated library (codegen/cpp/templates/RegisterKernels.cpp.template). The
# library's manifest has the registered kernels.
_KERNELS_OF_GENERATED = re.compile(rb"_ZN\d+\w+_[0-9a-f]{8}7kernelsEv")
# A file without one of these texts in its symbols' names registers nothing.
_MARKS = (b"name_of_op_", b"register_kernels")
_SHARED_LIBRARY = 3
_SYMBOL_TABLES = (2, 11)
_FILE = 4
_ELF = b"\x7fELF"
_UNDEFINED = 0
# Exceptions that the reader raises for damaged files.
_BROKEN = (struct.error, IndexError, ValueError, OverflowError)


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
    """The registrations of a file.

    Attributes:
        known: the uses of EXECUTORCH_LIBRARY.
        has_unknown: whether the file also calls `register_kernels()` for unknown kernels.
    """

    known: tuple[Registration, ...] = ()
    has_unknown: bool = False


def registrations(path: str) -> Registrations:
    """Returns the registrations of an object file, an archive or a shared library; none for other or damaged files."""
    data = _map(path)
    try:
        members = [_read(member) for member in _members(data)]
    except _BROKEN:
        return Registrations()
    return Registrations(
        tuple(registration for member in members for registration in member.known),
        any(member.has_unknown for member in members),
    )


def backends(path: str, names: Collection[str]) -> frozenset[str]:
    """Returns the backends that a file may register: it refers to `register_backend()`, and has the names as text."""
    data = _map(path)
    try:
        registers = any(_names_one_of(member, _REGISTER_BACKEND) for member in _members(data))
    except _BROKEN:
        registers = False
    return frozenset(name for name in names if registers and data.find(name.encode() + b"\0") >= 0)


def _map(path: str) -> mmap.mmap | bytes:
    if Path(path).stat().st_size == 0:
        return b""
    with Path(path).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _members(data: mmap.mmap | bytes) -> Iterator[mmap.mmap | bytes]:
    """Yields the object files of an archive, or the file itself."""
    if data[:8] != b"!<arch>\n":
        yield data
        return
    offset = 8
    while offset + 60 <= len(data):
        size = int(data[offset + 48 : offset + 58])
        yield data[offset + 60 : offset + 60 + size]
        offset += 60 + size + size % 2


def _names_one_of(data: mmap.mmap | bytes, marks: Sequence[bytes]) -> bool:
    """Returns whether a symbol's name contains one of the texts. A file that is not ELF is searched as a whole."""
    tables = [(0, len(data))] if data[:4] != _ELF else [table[2:] for table in _symbol_tables(data)]
    return any(data.find(mark, start, end) >= 0 for start, end in tables for mark in marks)


def _symbol_tables(data: mmap.mmap | bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yields the beginning and the end of each symbol table of an ELF file, and of the table of the symbols' names."""
    sections = list(_sections(data))
    for section in sections:
        if section.kind in _SYMBOL_TABLES:
            names = sections[section.link]
            yield section.start, section.start + section.size, names.start, names.start + names.size


def _read(data: mmap.mmap | bytes) -> Registrations:
    if data[:4] != _ELF or not _names_one_of(data, _MARKS):
        return Registrations()
    is_64, order = _form(data)
    (file_type,) = struct.unpack_from(order + "H", data, 16)
    sections = list(_sections(data))
    known: list[Registration] = []
    calls = is_generated = False
    for start, end, names, _ in _symbol_tables(data):
        source = ""
        symbol = struct.Struct(order + ("IBBHQQ" if is_64 else "IIIBBH"))
        for fields in symbol.iter_unpack(data[start:end]):
            if is_64:
                name_at, info, _, index, value, length = fields
            else:
                name_at, value, length, info, _, index = fields
            name = _text(data, names + name_at)
            is_generated |= _KERNELS_OF_GENERATED.fullmatch(name) is not None
            if info & 0xF == _FILE:
                source = name.decode()
            elif index == _UNDEFINED:
                calls |= _REGISTER_KERNELS.fullmatch(name) is not None
            elif (match := _MACRO.fullmatch(name)) and index < len(sections):
                # In an object file, sections have no addresses yet, and the value counts from the section's beginning.
                address = sections[index].address if file_type == _SHARED_LIBRARY else 0
                at = sections[index].start + value - address
                operator = data[at : at + length].rstrip(b"\0").decode()
                known.append(Registration(operator, f"{Path(source).name}:{int(match[1])}"))
    return Registrations(tuple(known), calls and not known and not is_generated)


class _Section(NamedTuple):
    """A section of an ELF file: type, address at run time, place in the file, and the index of a linked section."""

    kind: int
    address: int
    start: int
    size: int
    link: int


def _form(data: mmap.mmap | bytes) -> tuple[bool, str]:
    """Returns whether an ELF file has 64 bits, and the byte order for `struct`."""
    return data[4] == 2, "<" if data[5] == 1 else ">"


def _sections(data: mmap.mmap | bytes) -> Iterator[_Section]:
    is_64, order = _form(data)
    (table,) = struct.unpack_from(order + ("Q" if is_64 else "I"), data, 40 if is_64 else 32)
    entry_size, count = struct.unpack_from(order + "HH", data, 58 if is_64 else 46)
    header = struct.Struct(order + ("IIQQQQI" if is_64 else "IIIIIII"))
    if entry_size < header.size:
        raise ValueError(f"entries of {entry_size} bytes")
    if count == 0:  # The number does not fit into the header; the first section header has it.
        count = header.unpack_from(data, table)[5]
    for section in range(count):
        _, kind, _, *rest = header.unpack_from(data, table + section * entry_size)
        yield _Section(kind, *rest)


def _text(data: mmap.mmap | bytes, start: int) -> bytes:
    end = data.find(b"\0", start)
    if end < 0:
        raise ValueError("a name without an end")
    return data[start:end]
