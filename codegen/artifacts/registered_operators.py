"""registered.json: the operators that a generated library registers, with their kernels and kernel keys."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.artifacts import json_file
from codegen.cache import content_cache
from codegen.model import schema
from codegen.model.operators import Kernel, Operator
from diagnostics.errors import Location

_FORMAT = json_file.Format("registered.json", "the operators that a library registers", "'codegen generate'")


@dataclass(frozen=True, slots=True)
class Library:
    """The operators that one library registers.

    Attributes:
        label: the library's label.
        yaml_names: the short names of the library's YAML files.
        operators: the operators, sorted by name.
    """

    label: str
    yaml_names: tuple[str, ...]
    operators: tuple[Operator, ...]


def write(library: Library, path: str) -> None:
    """Writes registered.json. Equal libraries give equal bytes."""
    operators = [_operator_to_json(operator) for operator in library.operators]
    head = json.dumps({"label": library.label, "yaml_names": library.yaml_names})
    # One operator on each line makes diffs of two files readable.
    Path(path).write_text(f'{head[:-1]}, "operators": [\n' + ",\n".join(operators) + "\n]}\n")


@content_cache.by_content
def read(path: str) -> Library:
    """Reads registered.json.

    Raises:
        InputError: `write` did not write the file.
    """
    return json_file.read(path, _FORMAT, lambda content: _parse(content, path))


def _parse(content: Any, path: str) -> Library:
    operators = tuple(
        Operator(
            schema=schema.parse(entry["schema"], lambda offset: Location(path)),
            kernels=tuple(
                Kernel(
                    function=kernel["function"],
                    keys=tuple(kernel["keys"]),
                    location=Location(*kernel["location"]),
                    is_aten=kernel.get("is_aten", False),
                )
                for kernel in entry["kernels"]
            ),
            location=Location(*entry["location"]),
        )
        for entry in content["operators"]
    )
    return Library(content["label"], tuple(content["yaml_names"]), operators)


@functools.cache
def _operator_to_json(operator: Operator) -> str:
    return json.dumps(
        {
            "schema": str(operator.schema),
            "location": _location_to_json(operator.location),
            "kernels": [
                {
                    "function": kernel.function,
                    "keys": kernel.keys,
                    "location": _location_to_json(kernel.location),
                    **({"is_aten": True} if kernel.is_aten else {}),
                }
                for kernel in operator.kernels
            ],
        }
    )


def _location_to_json(location: Location) -> Sequence[str | int]:
    return [_path_to_json(location.path), location.line, location.column]


@functools.cache
def _path_to_json(path: str) -> str:
    # An absolute path would make the file differ between machines.
    return Path(path).name if Path(path).is_absolute() else path
