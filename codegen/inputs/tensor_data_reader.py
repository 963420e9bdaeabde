"""Reads the sample inputs and outputs of an export, which are in ExecuTorch's format of tensor data (`.ptd`)."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from codegen.inputs import flatbuffer, program_reader
from diagnostics.errors import Finding, InputError

_IDENTIFIER = b"FT01"
# After the root offset and the identifier: the magic, the header's size, the FlatBuffer's offset and size, and the
# offset and size of the segments.
_HEADER = struct.Struct("<8x4sIQQQQ")
_MAGIC = b"FH01"
# The numbers of the fields in flat_tensor.fbs.
_SEGMENTS, _NAMED_DATA = 1, 2
_SEGMENT_OFFSET, _SEGMENT_SIZE = 0, 1
_KEY, _SEGMENT_INDEX, _LAYOUT = 0, 1, 2
_DTYPE, _SIZES, _DIM_ORDER = 0, 1, 2


class TensorData(NamedTuple):
    """A tensor in a file.

    Attributes:
        dtype: the number of the dtype.
        sizes: the sizes.
        dim_order: the dimensions from the outermost to the innermost.
        data: the elements, in the dim order.
    """

    dtype: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    data: bytes


def read(path: str) -> dict[str, TensorData]:
    """Returns the tensors by their keys: `forward/0/input/1`.

    Raises:
        InputError: the file is damaged, or another file.
    """
    try:
        return _read(memoryview(Path(path).read_bytes()))
    except program_reader.BROKEN as error:
        raise InputError(
            Finding(
                id="damaged-program",
                where=Path(path).name,
                found=f"the tensor data cannot be followed ({error})",
                cause="the export or a copy of the file was broken off, or another file was given",
                fix="give the .ptd file that the export wrote beside the program",
            )
        ) from error


def _read(data: memoryview) -> dict[str, TensorData]:
    magic, _, offset, size, begin, _ = _HEADER.unpack_from(data)
    if bytes(data[4:8]) != _IDENTIFIER or magic != _MAGIC:
        raise ValueError("no header of a .ptd file")
    buffer = flatbuffer.Buffer(data[: offset + size])

    def number(table: int, field: int, format_: str) -> int:
        place = buffer.field(table, field)
        return 0 if place is None else int(buffer.numbers((place, 1), format_)[0])

    def tables(field: int) -> list[int]:
        return buffer.tables(buffer.vector(buffer.field(buffer.root, field)))

    segments = [
        (number(segment, _SEGMENT_OFFSET, "Q"), number(segment, _SEGMENT_SIZE, "Q")) for segment in tables(_SEGMENTS)
    ]
    tensors = {}
    for named in tables(_NAMED_DATA):
        key = buffer.text(buffer.vector(buffer.field(named, _KEY)))
        place, length = segments[number(named, _SEGMENT_INDEX, "I")]
        first = begin + place
        if first + length > len(data):
            raise ValueError("a tensor after the file")
        layout = buffer.follow(buffer.field(named, _LAYOUT))
        tensors[key] = TensorData(
            dtype=number(layout, _DTYPE, "b"),
            sizes=buffer.numbers(buffer.vector(buffer.field(layout, _SIZES)), "i"),
            dim_order=buffer.numbers(buffer.vector(buffer.field(layout, _DIM_ORDER)), "B"),
            data=bytes(data[first : first + length]),
        )
    return tensors
