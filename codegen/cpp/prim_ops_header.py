"""selected_prim_ops.h: selects the runtime's own operators in a runtime that is built from source.

ExecuTorch's register_prim_ops.cpp, compiled with ET_PRIM_OPS_SELECTIVE_BUILD, includes this file. Each operator in
register_prim_ops.cpp has a guard macro, named after the operator's full name with the overload, if any.
"""

from __future__ import annotations

import re
from pathlib import Path

from codegen.cpp import template
from codegen.model import prim_ops
from codegen.model.selection import Selection

_ENABLE = "EXECUTORCH_ENABLE_PRIM_OPS_SELECTIVE_BUILD"


def guard(operator: str) -> str:
    """Returns the macro that selects an operator: `INCLUDE_ATEN_SYM_SIZE_INT` for `aten::sym_size.int`."""
    return "INCLUDE_" + re.sub(r"[:._]+", "_", operator).upper()


def write(selected: Selection, label: str, path: str) -> None:
    """Writes the header for the operators of a selection."""
    kept = sorted(name for name in selected.operators if name in prim_ops.PRIM_OPS)
    if selected.include_all:
        guards = "// All of them: the selection includes all operators.\n"
    elif not kept:
        # The runtime's table must not be empty.
        guards = "// All of them: the selection has none, and the runtime cannot be built without any.\n"
    else:
        guards = "".join(f"#define {name}\n" for name in (_ENABLE, *map(guard, kept)))
    Path(path).write_text(template.fill("selected_prim_ops.h", label=label, guards=guards))
