"""Prints how many bytes a dtype-selective build saves in the binaries of the example models.

    tools/bazel run //tools/bench:dtype_bench

Bytes are those that a binary loads: code, constants and data, without symbols and debug information. The kernels' are
what a runner without any loads less.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

_EXAMPLES = ("mobilenet_v2", "tiny_llama")
_PT_LOAD = 1


def _loaded_bytes(path: Path) -> int:
    """The bytes of a 64-bit little-endian ELF file that are mapped into memory when it runs."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit(f"{path} is no 64-bit little-endian ELF file")
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", data, offset + i * size) for i in range(count)]
    return sum(segment[5] for segment in segments if segment[0] == _PT_LOAD)


def main() -> None:
    directory = Path(__file__).parent
    without_kernels = _loaded_bytes(directory / "no_kernels")
    print(f"{'model':<14} {'':<8} {'all dtypes':>10} {'selected':>10} {'saved':>8}")
    for example in _EXAMPLES:
        before = _loaded_bytes(directory / f"{example}_all_dtypes")
        after = _loaded_bytes(directory / f"{example}_selected_dtypes")
        for what, base in (("binary", 0), ("kernels", without_kernels)):
            saved = f"{(before - after) / (before - base):.0%}"
            print(f"{example:<14} {what:<8} {before - base:>10,} {after - base:>10,} {saved:>8}")


if __name__ == "__main__":
    main()
