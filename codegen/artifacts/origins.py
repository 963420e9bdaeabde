"""<program>.origins.json: the line of Python behind each instruction, and the names of constants.

`export/report/origins.py` writes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from codegen.artifacts import json_file

_FORMAT = json_file.Format("origins.json", "the lines of Python behind instructions", "the export")

# The text of each instruction by its number, for each method.
Origins = Mapping[str, Mapping[int, str]]

# The name in the module of a constant by the number of its value, for each method.
Names = Mapping[str, Mapping[int, str]]

NONE: Origins = MappingProxyType({})


def read(path: str) -> Origins:
    """Returns a text for each instruction: `model.py:12, module encoder.layer0`.

    The line is the innermost one outside of torch, or else the innermost one.

    Raises:
        InputError: the export did not write the file.
    """
    return json_file.read(path, _FORMAT, _parse)


def read_names(path: str) -> Names:
    """Returns the names of constants.

    Raises:
        InputError: the export did not write the file.
    """
    return json_file.read(path, _FORMAT, _parse_names)


def _parse_names(content: Any) -> Names:
    return {
        method: {int(value): str(name) for value, name in names.items()}
        for method, names in content["constants"].items()
    }


def _parse(content: Any) -> Origins:
    frames = [f"{file}:{int(line)}" for file, line, *_ in content["frames"]]
    return {
        method: {int(number): _text(origin, frames) for number, origin in instructions.items()}
        for method, instructions in content["methods"].items()
    }


def _text(origin: Any, frames: list[str]) -> str:
    stack = [frames[index] for index in origin.get("stack", ())]
    own = [frame for frame in stack if not frame.startswith("torch/")]
    line = (own or stack or [""])[-1]
    module = origin.get("module", "")
    return ", ".join(filter(None, (line, f"module {module}" if module else "")))
