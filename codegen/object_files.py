"""The operators that object files register by ExecuTorch's macro EXECUTORCH_LIBRARY.

The macro leaves a local symbol `name_of_op_<line>` on the operator's name, which is read out of the file's data. Only
ELF files have it in this form; in other files, and in files without symbols, nothing is found.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SYMBOL = re.compile(rb"(?:_ZL\d+)?name_of_op_(\d+)")
_MARK = b"name_of_op_"
_SYMTAB = 2
_FILE = 4


@dataclass(frozen=True, slots=True)
class Registration:
    """One use of EXECUTORCH_LIBRARY.

    Attributes:
        operator: the operator's full name.
        place: the source file's name, without directories, and the line.
    """

    operator: str
    place: str


def registrations(path: str) -> list[Registration]:
    """What an object file or an archive of them registers; nothing for other and for damaged files."""
    data = Path(path).read_bytes()
    try:
        return [found for member in _members(data) if _MARK in member for found in _read(member)]
    except (struct.error, IndexError, ValueError):
        return []


def _members(data: bytes) -> Iterator[bytes]:
    """The object files of an archive, or the file itself."""
    if not data.startswith(b"!<arch>\n"):
        yield data
        return
    offset = 8
    while offset + 60 <= len(data):
        size = int(data[offset + 48 : offset + 58])
        yield data[offset + 60 : offset + 60 + size]
        offset += 60 + size + size % 2


def _read(data: bytes) -> Iterator[Registration]:
    if not data.startswith(b"\x7fELF"):
        return
    is_64, order = data[4] == 2, "<" if data[5] == 1 else ">"
    sections = list(_sections(data, is_64, order))
    for kind, offset, size, link in sections:
        if kind != _SYMTAB:
            continue
        strings = sections[link][1]
        source = ""
        symbol = struct.Struct(order + ("IBBHQQ" if is_64 else "IIIBBH"))
        for fields in symbol.iter_unpack(data[offset : offset + size]):
            if is_64:
                name_at, info, _, index, value, length = fields
            else:
                name_at, value, length, info, _, index = fields
            name = _text(data, strings + name_at)
            if info & 0xF == _FILE:
                source = name.decode()
            elif (match := _SYMBOL.fullmatch(name)) and index < len(sections):
                start = sections[index][1] + value
                operator = data[start : start + length].rstrip(b"\0").decode()
                yield Registration(operator, f"{Path(source).name}:{int(match[1])}")


def _sections(data: bytes, is_64: bool, order: str) -> Iterator[tuple[int, int, int, int]]:
    """Of each section its type, its place in the file, its size, and the section it refers to."""
    (table,) = struct.unpack_from(order + ("Q" if is_64 else "I"), data, 40 if is_64 else 32)
    entry_size, count = struct.unpack_from(order + "HH", data, 58 if is_64 else 46)
    header = struct.Struct(order + ("IIQQQQI" if is_64 else "IIIIIII"))
    if count == 0:  # More sections than the header can say: the first one tells.
        count = header.unpack_from(data, table)[5]
    for section in range(count):
        _, kind, _, _, offset, size, link = header.unpack_from(data, table + section * entry_size)
        yield kind, offset, size, link


def _text(data: bytes, start: int) -> bytes:
    return data[start : data.index(b"\0", start)]
