"""Reads from object files the operators that C++ declares with EXECUTORCH_OPERATOR of runtime/operator.h."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.model.operators import Declaration

# The bytes that the macro leaves in an object file of any format: schema, kernel, file, line.
_DECLARATION = re.compile(rb"\0EXECUTORCH_OPERATOR\0([^\0]*)\0([^\0]*)\0([^\0]*)\0(\d+)\0END\0", re.DOTALL)


def read(path: str) -> list[Declaration]:
    """Returns the declarations in an object file."""
    found = []
    for match in _DECLARATION.finditer(Path(path).read_bytes()):
        schema, kernel, file, line = (text.decode(errors="replace") for text in match.groups())
        found.append(Declaration(schema, kernel, file, int(line)))
    return found
