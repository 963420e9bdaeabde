"""Writes the module of typed views of calls, in a build action.

    write_calls --own=own_custom_ops.yaml --others=viewed_operators.txt --output=calls.py

Each line of the file of other operators is the full name of an operator of PyTorch, such as `aten::add.Tensor`, or a
schema.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

from absl import app, flags

from codegen.model import aten_operators, schema
from codegen.model.schema import FunctionSchema
from diagnostics.errors import Location
from export.graph_passes.generator import call_classes, own_operators

_OWN = flags.DEFINE_string("own", None, "YAML file of our own operators.", required=True)
_OTHERS = flags.DEFINE_string("others", None, "File with the names and schemas of other operators.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Module to write.", required=True)


def others(path: Path) -> Iterator[FunctionSchema]:
    """Reads the operators that a file lists.

    Raises:
        SchemaError: PyTorch has no operator of a listed name.
        InputError: a line is not a valid schema.
    """
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        if "(" in line:
            yield schema.parse(line, functools.partial(_location, path.name, number))
            continue
        name = schema.parse_operator_name(line)
        found = aten_operators.find(name) if name else None
        if found is None:
            raise call_classes.SchemaError(f"{path.name}:{number}: PyTorch has no operator {line!r}")
        yield found


def _location(file: str, line: int, offset: int) -> Location:
    return Location(file, line, offset + 1)


def _main(arguments: Sequence[str]) -> None:
    if len(arguments) > 1:
        raise app.UsageError(f"unknown argument: {arguments[1]}")
    own = own_operators.read(_OWN.value)
    Path(_OUTPUT.value).write_text(call_classes.module(own, list(others(Path(_OTHERS.value)))))


if __name__ == "__main__":
    app.run(_main)
