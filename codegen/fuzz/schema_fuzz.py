"""Fuzzes the parser of operator schemas. A parsed schema, written and parsed again, must be equal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import atheris

from codegen.fuzz import fuzzing

with atheris.instrument_imports(include=["codegen"]):
    from codegen.model import schema, signatures
    from diagnostics.errors import Location


def _locate(offset: int) -> Location:
    return Location("functions.yaml", 1, offset + 1)


def _test(data: bytes) -> None:
    text = data.decode(errors="replace")
    schema.parse_operator_name(text)
    with fuzzing.answer():
        parsed = schema.parse(text, _locate)
        again = schema.parse(str(parsed), _locate)
        if again != parsed:
            raise AssertionError(f"{parsed} and {again}")
        signatures.unsupported(parsed, _locate(0))


def _seeds(file: Path) -> Iterator[bytes]:
    """Yields the lines of the file, without the first."""
    yield from file.read_bytes().splitlines()[1:]


if __name__ == "__main__":
    fuzzing.run(_test, _seeds)
