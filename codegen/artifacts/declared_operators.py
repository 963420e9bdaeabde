"""<library>.declared.json: the operators that the C++ of a kernel library declares by EXECUTORCH_OPERATOR."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codegen.artifacts import json_file
from codegen.model.operators import Declaration

_FORMAT = json_file.Format(".declared.json", "operators that C++ declares", "'codegen collect'")


def write(declarations: Sequence[Declaration], path: str) -> None:
    """Writes declarations. Equal declarations give equal bytes, in any order."""
    # One operator on each line makes diffs of two files readable.
    lines = [json.dumps(declaration) for declaration in sorted(declarations)]
    Path(path).write_text("[\n" + ",\n".join(lines) + "\n]\n")


def read(path: str) -> tuple[Declaration, ...]:
    """Reads declarations.

    Raises:
        InputError: `write` did not write the file.
    """
    return json_file.read(path, _FORMAT, _parse)


def _parse(content: Any) -> tuple[Declaration, ...]:
    declarations = tuple(Declaration(*entry) for entry in content)
    for declaration in declarations:
        if [type(value) for value in declaration] != [str, str, str, int]:
            raise TypeError(f"{list(declaration)} is not a declaration")
    return declarations
