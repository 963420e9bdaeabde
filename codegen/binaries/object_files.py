"""Reads the registrations of linked files from their symbols.

ExecuTorch's macro EXECUTORCH_LIBRARY leaves a local symbol `name_of_op_<line>` at the operator's name, which is read
from the file's data. For any other call of `register_kernels()`, only the call is found, not the operator. In files
without local symbols, only the calls are found. Compilers leave the symbol out where nothing uses the name at run time:
Clang with optimization, and GCC for a runtime without event tracing.

The check of a binary reads all object files of the binary, most of which register nothing. This module reads the few
necessary ELF structures itself: pyelftools, which reads binaries for reports, takes 15 times as long. Files of macOS
and Windows that may register something are read by `macos_and_windows`.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from codegen.binaries import formats, macos_and_windows
from codegen.binaries.formats import Data, Member

_MACRO = re.compile(rb"(?:_ZL\d+)?name_of_op_(\d+)")
_REGISTER_KERNELS = re.compile(rb"_ZN10executorch7runtime(?:4aten)?16register_kernelsE\w+")
_REGISTER_BACKEND = (b"executorch7runtime16register_backend", b"executorch7runtime4aten16register_backend")
# The function that returns the kernels of a generated library (codegen/cpp/templates/RegisterKernels.cpp.template). The
# library's manifest has the registered kernels.
_KERNELS_OF_GENERATED = re.compile(rb"_ZN\d+\w+_[0-9a-f]{8}7kernelsEv")
# A file without one of these texts in its symbols' names registers nothing.
_MARKS = (b"name_of_op_", b"register_kernels")
# The beginning of register_kernels() in the mangling of Microsoft's compiler. No other names of that mangling are read.
_MICROSOFT = b"?register_kernels@runtime@"
_SHARED_LIBRARY = 3
_SYMBOL_TABLES = (2, 11)
_FILE = 4
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
    """Returns the registrations of an object file, an archive or a library; none for other or damaged files.

    A file for several processors has the registrations of all, and those that several have once.

    Raises:
        InputError: the file is for macOS or Windows, registers kernels, and LIEF is not installed.
    """
    known: Counter[Registration] = Counter()
    has_unknown = False
    try:
        for part in formats.slices(formats.mapped(path)):
            found = [_read(member, path) for member in formats.members(part)]
            known |= Counter(registration for member in found for registration in member.known)
            has_unknown |= any(member.has_unknown for member in found)
    except _BROKEN:
        return Registrations()
    return Registrations(tuple(known.elements()), has_unknown)


def backends(path: str, names: Collection[str]) -> frozenset[str]:
    """Returns the backends that a file may register: it refers to `register_backend()`, and has the names as text."""
    data = formats.mapped(path)
    try:
        members = [member for part in formats.slices(data) for member in formats.members(part)]
        registers = any(_names_one_of(member.data, _REGISTER_BACKEND) for member in members)
    except _BROKEN:
        registers = False
    return frozenset(name for name in names if registers and data.find(name.encode() + b"\0") >= 0)


def _read(member: Member, path: str) -> Registrations:
    format_ = formats.format_of(member.data)
    if format_ is None or not _names_one_of(member.data, _MARKS):
        return Registrations()
    if format_ == formats.ELF:
        return _read_elf(member.data)
    return _read_other(member, format_, path)


def _read_other(member: Member, format_: str, path: str) -> Registrations:
    found = macos_and_windows.names(member.data, format_, path)
    source = found.source or member.name or Path(path).name
    known: list[Registration] = []
    # Names of Microsoft's mangling are not read, only that they are there.
    calls = member.data.find(_MICROSOFT) >= 0
    is_generated = False
    for symbol in found.names:
        name = symbol.name.encode()
        is_generated |= _KERNELS_OF_GENERATED.fullmatch(name) is not None
        if not symbol.is_defined:
            calls |= _REGISTER_KERNELS.fullmatch(name) is not None
        elif match := _MACRO.fullmatch(name):
            known.append(Registration(symbol.text(), f"{Path(source).name}:{int(match[1])}"))
    return Registrations(tuple(known), calls and not known and not is_generated)


def _names_one_of(data: Data, marks: Sequence[bytes]) -> bool:
    """Returns whether a symbol's name contains one of the texts. A file that is not ELF is searched as a whole."""
    is_elf = formats.format_of(data) == formats.ELF
    tables = [table[2:] for table in _symbol_tables(data)] if is_elf else [(0, len(data))]
    return any(data.find(mark, start, end) >= 0 for start, end in tables for mark in marks)


def _symbol_tables(data: Data) -> Iterator[tuple[int, int, int, int]]:
    """Yields the beginning and the end of each symbol table of an ELF file, and of the table of the symbols' names."""
    sections = list(_sections(data))
    for section in sections:
        if section.kind in _SYMBOL_TABLES:
            names = sections[section.link]
            yield section.start, section.start + section.size, names.start, names.start + names.size


def _read_elf(data: Data) -> Registrations:
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


def _form(data: Data) -> tuple[bool, str]:
    """Returns whether an ELF file has 64 bits, and the byte order for `struct`."""
    return data[4] == 2, "<" if data[5] == 1 else ">"


def _sections(data: Data) -> Iterator[_Section]:
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


def _text(data: Data, start: int) -> bytes:
    end = data.find(b"\0", start)
    if end < 0:
        raise ValueError("a name without an end")
    return data[start:end]
