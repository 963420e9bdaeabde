"""dtypes.json: the dtypes of a dtype-selective build, for each operator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.artifacts import json_file
from codegen.model import kernel_keys

# The dtypes that an operator's kernel supports; None for all dtypes.
Dtypes = frozenset[int] | None

_FORMAT = json_file.Format("dtypes.json", "the dtypes of a dtype-selective build", "'codegen prune'")


@dataclass(frozen=True, slots=True)
class SelectiveBuild:
    """The dtypes of a library's kernels.

    Attributes:
        label: the library's label.
        operators: the dtypes of each operator, by the operator's full name.
        kernel_sources: the source files of the operators' kernels, without shared source files.
    """

    label: str
    operators: Mapping[str, Dtypes]
    kernel_sources: tuple[str, ...]


def write(build: SelectiveBuild, path: str) -> None:
    """Writes dtypes.json. Equal builds give equal bytes."""
    operators = [
        f"{json.dumps(name)}: {json.dumps(None if dtypes is None else kernel_keys.dtype_names(dtypes))}"
        for name, dtypes in sorted(build.operators.items())
    ]
    head = json.dumps({"label": build.label, "kernel_sources": build.kernel_sources})
    Path(path).write_text(f'{head[:-1]}, "operators": {{\n' + ",\n".join(operators) + "\n}}\n")


def read(path: str) -> SelectiveBuild:
    """Reads dtypes.json.

    Raises:
        InputError: the file is not a dtypes.json.
    """
    return json_file.read(path, _FORMAT, _parse)


def _parse(content: Any) -> SelectiveBuild:
    operators = {
        name: None if dtypes is None else frozenset(_number(dtype) for dtype in dtypes)
        for name, dtypes in content["operators"].items()
    }
    return SelectiveBuild(content["label"], operators, tuple(content["kernel_sources"]))


def _number(name: str) -> int:
    number = kernel_keys.find_dtype(name)
    if number is None:
        raise ValueError(f"{name} is not a dtype")
    return number
