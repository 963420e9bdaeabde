"""Tells the formats of object files apart, and opens archives and files for several processors."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ELF = "ELF"
MACH_O = "Mach-O"
COFF = "COFF"
PE = "PE"

Data = mmap.mmap | bytes

# Enough bytes of a file to tell the format.
HEAD = 64

# The platforms of a format, for messages.
PLATFORMS = {ELF: "Linux", MACH_O: "macOS", COFF: "Windows", PE: "Windows"}

_ELF_MAGIC = b"\x7fELF"
_MACH_O_MAGICS = frozenset((b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf"))
_PE_MAGIC = b"MZ"
# A COFF object has no magic: the processor comes first. These are x86, x86-64, ARM and arm64.
_COFF_MACHINES = frozenset((0x14C, 0x8664, 0x1C4, 0xAA64))
# An object with more than 65,279 sections begins with these bytes and a version; version 0 is an entry of an import
# library.
_BIG_COFF = b"\0\0\xff\xff"
_COFF_HEADER = 20

# The start of a file with the code of several processors, and the entries of its table.
_FAT = {b"\xca\xfe\xba\xbe": struct.Struct(">IIIII"), b"\xca\xfe\xba\xbf": struct.Struct(">IIQQII")}
# Java's classes have the same magic. The number after the magic is their version, 45 or more.
_MAX_SLICES = 44

_ARCHIVE = b"!<arch>\n"
_MEMBER_HEADER = 60
# In archives of BSD and macOS, a name of this form has its length after the slash, and comes before the content.
_LONG_NAME = b"#1/"
# The index and the long names, which are members, too.
_INDEXES = (b"/", b"//", b"/SYM64/", b"__.SYMDEF", b"__.SYMDEF SORTED", b"__.SYMDEF_64", b"__.SYMDEF_64 SORTED")


class Member(NamedTuple):
    """A file in an archive, or a file that is in none.

    Attributes:
        name: the name in the archive; empty for a file in none.
        data: the content.
    """

    name: str
    data: Data


def format_of(data: Data) -> str | None:
    """Returns the format of an object file, a library or a binary; None for other files, archives among these."""
    start = data[:4]
    if start == _ELF_MAGIC:
        return ELF
    if start in _MACH_O_MAGICS:
        return MACH_O
    if start[:2] == _PE_MAGIC:
        return PE
    if len(data) < _COFF_HEADER:
        return None
    if start == _BIG_COFF:
        return COFF if data[4:6] != b"\0\0" else None
    machine, header_size = int.from_bytes(data[:2], "little"), int.from_bytes(data[16:18], "little")
    return COFF if machine in _COFF_MACHINES and header_size == 0 else None


def mapped(path: str) -> Data:
    """Returns the content of a file.

    Raises:
        OSError: the file cannot be read.
    """
    if Path(path).stat().st_size == 0:
        return b""
    with Path(path).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def of_file(path: str) -> str | None:
    """Returns the format of an object file, a library or a binary, or of the objects in an archive; None for others."""
    try:
        found = (format_of(member.data) for member in members(slices(mapped(path))[0]))
        return next(filter(None, found), None)
    except (OSError, ValueError, IndexError, struct.error):
        return None


def is_universal(data: Data) -> bool:
    """Returns whether a file has parts for several processors."""
    return data[:4] in _FAT and int.from_bytes(data[4:8], "big") <= _MAX_SLICES


def slices(data: Data) -> list[Data]:
    """Returns the parts of a file for each processor; the file itself if it is for one processor.

    Raises:
        struct.error: the file is damaged.
    """
    if not is_universal(data):
        return [data]
    entry = _FAT[data[:4]]
    parts: list[Data] = []
    for index in range(int.from_bytes(data[4:8], "big")):
        _, _, start, size, *_ = entry.unpack_from(data, 8 + index * entry.size)
        parts.append(data[start : start + size])
    return parts


def members(data: Data) -> Iterator[Member]:
    """Yields the object files of an archive, or the file itself.

    Raises:
        ValueError: the archive is damaged.
    """
    if data[: len(_ARCHIVE)] != _ARCHIVE:
        yield Member("", data)
        return
    offset = len(_ARCHIVE)
    long_names = b""
    while offset + _MEMBER_HEADER <= len(data):
        size = int(data[offset + 48 : offset + 58])
        name = data[offset : offset + 16].rstrip()
        start, end = offset + _MEMBER_HEADER, offset + _MEMBER_HEADER + size
        offset = end + size % 2
        if name == b"//":
            long_names = data[start:end]
        if name.startswith(_LONG_NAME):
            length = int(name[len(_LONG_NAME) :])
            name, start = data[start : start + length].rstrip(b"\0"), start + length
        elif name[:1] == b"/" and name[1:].isdigit():
            name = long_names[int(name[1:]) :].partition(b"\n")[0]
        if name not in _INDEXES:
            # Archives of Windows end a long name with a zero byte, others with a slash and a new line.
            yield Member(name.partition(b"\0")[0].removesuffix(b"/").decode(errors="replace"), data[start:end])
