"""Reads ExecuTorch's files of tensor data (`.ptd`): the samples of an export, and the layouts of constants."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from codegen.inputs import flatbuffer, program_reader
from codegen.model.execution_plan import Layout
from diagnostics.errors import InputError

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
    with _refused(path):
        data = program_reader.map_file(path)
        tensors = {}
        for key, layout, start, length in _entries(data):
            if layout is None:
                raise ValueError("a tensor without a layout")
            tensors[key] = TensorData(*layout, bytes(data[start : start + length]))
        return tensors


def read_layouts(path: str) -> dict[str, Layout | None]:
    """Returns the layouts of the tensors by their keys; None for data of backends. Does not read the elements.

    Raises:
        InputError: the file is damaged, or another file.
    """
    with _refused(path):
        return {key: layout for key, layout, _, _ in _entries(program_reader.map_file(path))}


@contextlib.contextmanager
def _refused(path: str) -> Iterator[None]:
    try:
        yield
    except program_reader.BROKEN as error:
        raise InputError.of(
            id="damaged-program",
            where=Path(path).name,
            found=f"the tensor data cannot be followed ({error})",
            cause="the export or a copy of the file was broken off, or another file was given",
            fix="give the .ptd file that the export wrote beside the program",
        ) from error


def _entries(data: memoryview) -> Iterator[tuple[str, Layout | None, int, int]]:
    """Yields the key, the layout, the first byte and the number of bytes of each entry."""
    magic, _, offset, size, begin, _ = _HEADER.unpack_from(data)
    if bytes(data[4:8]) != _IDENTIFIER or magic != _MAGIC:
        raise ValueError("no header of a .ptd file")
    buffer = flatbuffer.Buffer(data[: offset + size])

    def tables(field: int) -> list[int]:
        return buffer.tables(buffer.vector(buffer.field(buffer.root, field)))

    segments = [
        (buffer.number(segment, _SEGMENT_OFFSET, "Q"), buffer.number(segment, _SEGMENT_SIZE, "Q"))
        for segment in tables(_SEGMENTS)
    ]
    for named in tables(_NAMED_DATA):
        place, length = segments[buffer.number(named, _SEGMENT_INDEX, "I")]
        if begin + place + length > len(data):
            raise ValueError("a tensor after the file")
        layout = None
        field = buffer.field(named, _LAYOUT)
        if field is not None:
            table = buffer.follow(field)
            layout = Layout(
                dtype=buffer.number(table, _DTYPE, "b"),
                sizes=buffer.numbers(buffer.vector(buffer.field(table, _SIZES)), "i"),
                dim_order=buffer.numbers(buffer.vector(buffer.field(table, _DIM_ORDER)), "B"),
            )
        yield buffer.text(buffer.vector(buffer.field(named, _KEY))), layout, begin + place, length
