"""Reads the size and the compiler of binaries."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import NamedTuple

_PT_LOAD = 1


class _Segment(NamedTuple):
    """A program header of a 64-bit ELF file."""

    kind: int
    flags: int
    offset: int
    address: int
    physical_address: int
    bytes_in_file: int
    bytes_in_memory: int
    alignment: int


def _loaded(data: bytes | bytearray) -> list[_Segment]:
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("is no 64-bit little-endian ELF file")
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = (_Segment(*struct.unpack_from("<IIQQQQQQ", data, offset + i * size)) for i in range(count))
    return [segment for segment in segments if segment.kind == _PT_LOAD]


def loaded_bytes(path: Path) -> int:
    """Returns the loaded bytes of a 64-bit little-endian ELF file.

    Raises:
        ValueError: the file is not such a file.
    """
    try:
        return sum(segment.bytes_in_file for segment in _loaded(path.read_bytes()))
    except ValueError as error:
        raise ValueError(f"{path} {error}") from error


def file_offset(data: bytes | bytearray, address: int) -> int:
    """Returns the place in a 64-bit little-endian ELF file of a virtual address.

    Raises:
        ValueError: the file is not such a file, or has no bytes for the address.
    """
    for segment in _loaded(data):
        if 0 <= address - segment.address < segment.bytes_in_file:
            return address - segment.address + segment.offset
    raise ValueError(f"no segment has the address {address:#x}")


def compiler(path: Path) -> str:
    """Returns the compiler that an ELF file names, such as `GCC 12.2.0`."""
    found = re.search(rb"GCC: \([^)]*\) (?P<GCC>[\d.]+)|clang version (?P<Clang>[\d.]+)", path.read_bytes())
    return f"{found.lastgroup} {found[found.lastgroup or 0].decode()}" if found else "unknown compiler"
