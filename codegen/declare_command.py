"""Finds the operators that C++ declares by EXECUTORCH_OPERATOR of runtime/operator.h, in object files.

codegen declare --label //ops:kernels --object kernels.o --output kernels.operators.json
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from absl import flags

from codegen import command_line
from codegen.errors import CodegenError, Finding

FLAGS = command_line.flag_values()

_LABEL = flags.DEFINE_string("label", None, "The library's label.", required=True, flag_values=FLAGS)
_OBJECTS = flags.DEFINE_multi_string("object", [], "An object file of the library.", flag_values=FLAGS)
_OUTPUT = flags.DEFINE_string(
    "output", None, "Where to write the operators, as JSON.", required=True, flag_values=FLAGS
)

# What the macro leaves in an object file of whatever format: schema, kernel, file, line.
_DECLARATION = re.compile(rb"\0EXECUTORCH_OPERATOR\0([^\0]*)\0([^\0]*)\0([^\0]*)\0(\d+)\0END\0", re.DOTALL)


def run() -> None:
    declared = [declaration for path in _OBJECTS.value for declaration in _DECLARATION.findall(Path(path).read_bytes())]
    if not declared:
        raise CodegenError(
            Finding(
                id="declares-nothing",
                where=_LABEL.value,
                found="declares_operators = True, and no source has an EXECUTORCH_OPERATOR",
                cause="the sources were moved, or the compiler leaves nothing readable in object files (-flto)",
                fix="declare operators by EXECUTORCH_OPERATOR of runtime/operator.h, or leave the attribute out",
            )
        )
    # One operator on each line, so that two files can be compared by eye.
    lines = [json.dumps([text.decode(errors="replace") for text in declaration]) for declaration in sorted(declared)]
    Path(_OUTPUT.value).write_text("[\n" + ",\n".join(lines) + "\n]\n")
