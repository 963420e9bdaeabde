"""Reads binary schemas of FlatBuffers (`flatc --binary --schema`). A binary schema is a FlatBuffers file itself."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.inputs.flatbuffer import Buffer

_IDENTIFIER = b"BFBS"

# The numbers of fields in FlatBuffers' reflection.fbs.
_SCHEMA_OBJECTS = 0
_SCHEMA_ENUMS = 1
_SCHEMA_FILE_IDENT = 2
_SCHEMA_ROOT_TABLE = 4
_OBJECT_NAME = 0
_OBJECT_FIELDS = 1
_FIELD_NAME = 0
_FIELD_ID = 2
_ENUM_NAME = 0
_ENUM_VALUES = 1
_ENUM_VALUE_NAME = 0
_ENUM_VALUE_VALUE = 1


@dataclass(frozen=True, slots=True)
class BinarySchema:
    """A schema of FlatBuffers.

    Attributes:
        tables: the number of each field, in the order of the numbers, by the full name of a table or struct.
        enums: the number of each value, by the full name of an enumeration or union.
        identifier: the file identifier of four characters; empty if there is none.
        root: the full name of the root table; empty if there is none.
    """

    tables: dict[str, dict[str, int]]
    enums: dict[str, dict[str, int]]
    identifier: str
    root: str


def read(data: bytes) -> BinarySchema:
    """Reads a binary schema.

    Raises:
        ValueError: the data is not a binary schema.
    """
    buffer = Buffer(memoryview(data))
    if not buffer.has_identifier(_IDENTIFIER):
        raise ValueError("no binary schema of FlatBuffers")
    root_table = buffer.field(buffer.root, _SCHEMA_ROOT_TABLE)
    return BinarySchema(
        tables={
            _text(buffer, table, _OBJECT_NAME): _fields(buffer, table)
            for table in _tables(buffer, buffer.root, _SCHEMA_OBJECTS)
        },
        enums={
            _text(buffer, enum, _ENUM_NAME): {
                _text(buffer, value, _ENUM_VALUE_NAME): buffer.number(value, _ENUM_VALUE_VALUE, "q")
                for value in _tables(buffer, enum, _ENUM_VALUES)
            }
            for enum in _tables(buffer, buffer.root, _SCHEMA_ENUMS)
        },
        identifier=_text(buffer, buffer.root, _SCHEMA_FILE_IDENT),
        root="" if root_table is None else _text(buffer, buffer.follow(root_table), _OBJECT_NAME),
    )


def _fields(buffer: Buffer, table: int) -> dict[str, int]:
    numbers = {
        _text(buffer, field, _FIELD_NAME): buffer.number(field, _FIELD_ID, "H")
        for field in _tables(buffer, table, _OBJECT_FIELDS)
    }
    return dict(sorted(numbers.items(), key=lambda item: item[1]))


def _tables(buffer: Buffer, table: int, number: int) -> list[int]:
    return buffer.tables(buffer.vector(buffer.field(table, number)))


def _text(buffer: Buffer, table: int, number: int) -> str:
    return buffer.text(buffer.vector(buffer.field(table, number)))
