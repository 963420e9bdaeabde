"""Reads the size and the compiler of binaries."""

from __future__ import annotations

import re
import struct
from pathlib import Path

_PT_LOAD = 1


def loaded_bytes(path: Path) -> int:
    """Returns the loaded bytes of a 64-bit little-endian ELF file.

    Raises:
        ValueError: the file is not such a file.
    """
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is no 64-bit little-endian ELF file")
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", data, offset + i * size) for i in range(count)]
    return sum(segment[5] for segment in segments if segment[0] == _PT_LOAD)


def compiler(path: Path) -> str:
    """Returns the compiler that an ELF file names, such as `GCC 12.2.0`."""
    found = re.search(rb"GCC: \([^)]*\) (?P<GCC>[\d.]+)|clang version (?P<Clang>[\d.]+)", path.read_bytes())
    return f"{found.lastgroup} {found[found.lastgroup or 0].decode()}" if found else "unknown compiler"
