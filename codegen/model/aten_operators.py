"""The schemas of PyTorch's own operators, from the checked-in aten_operators.txt."""

from __future__ import annotations

import functools
from collections.abc import Collection
from pathlib import Path

from codegen.model import schema
from diagnostics.errors import Location

_FILE = Path(__file__).with_name("aten_operators.txt")


def names() -> Collection[str]:
    """Returns the full names of all operators, such as `aten::add.out`."""
    return [f"aten::{name}" for name in _lines()]


def find(name: schema.OperatorName) -> schema.FunctionSchema | None:
    """Returns the schema of an operator; None if PyTorch has no such operator."""
    if name.namespace != "aten":
        return None
    line = _lines().get(name.unqualified)
    return None if line is None else schema.parse(line, lambda offset: Location(_FILE.name, column=offset))


def torch_version() -> str:
    """Returns the version of torch whose schemas are checked in."""
    return _text().partition(" torch ")[2].split()[0].rstrip(",")


@functools.cache
def _text() -> str:
    return _FILE.read_text()


@functools.cache
def _lines() -> dict[str, str]:
    """Returns each operator's line, by the name without the namespace."""
    return {line.partition("(")[0]: line for line in _text().splitlines()[1:]}
