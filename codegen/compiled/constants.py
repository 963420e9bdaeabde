"""The constants of a compiled program: one array for all methods, in the byte order of little-endian processors."""

from __future__ import annotations

import struct

# Tensors begin at multiples of this number of bytes, which is the width of the widest vectors.
ALIGNMENT = 64

_WORDS_PER_LINE = 6


class Constants:
    """Collects constants. Equal constants have one place."""

    def __init__(self) -> None:
        self._offsets: dict[bytes, int] = {}
        self._content = bytearray()

    def offset(self, data: memoryview) -> int:
        """Returns the offset of a constant in the array. Adds the constant if it is new."""
        key = bytes(data)
        if key not in self._offsets:
            self._content += bytes(-len(self._content) % ALIGNMENT)
            self._offsets[key] = len(self._content)
            self._content += key
        return self._offsets[key]

    def content(self) -> bytes:
        """Returns the array, which is never empty, and whose size is a multiple of 8 bytes."""
        content = bytes(self._content) or bytes(8)
        return content + bytes(-len(content) % 8)


def as_words(content: bytes) -> str:
    """Returns the elements of an array of uint64_t. Compilers read words of 8 bytes faster than bytes."""
    words = [f"0x{word:x}," for word in struct.unpack(f"<{len(content) // 8}Q", content)]
    lines = (words[i : i + _WORDS_PER_LINE] for i in range(0, len(words), _WORDS_PER_LINE))
    return "".join(f"    {' '.join(line)}\n" for line in lines)
