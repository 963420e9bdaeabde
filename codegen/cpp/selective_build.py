"""The C++ of a dtype-selective build: the header that says which dtypes to handle, and the sources of the kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from codegen.artifacts.selective_build import Dtypes, SelectiveBuild, dtype_names


def header(build: SelectiveBuild) -> str:
    """selected_op_variants.h: ExecuTorch's own name and function, and one for what operators share."""
    by_name: dict[str, Dtypes] = {}
    for operator, dtypes in build.operators.items():
        # A kernel names itself with or without its namespace.
        for name in (operator, operator.partition("::")[2]):
            by_name[name] = _union([by_name.get(name, frozenset()), dtypes])
    by_dtypes: dict[frozenset[int], list[str]] = {}
    for name, dtypes in sorted(by_name.items()):
        if dtypes is not None:
            by_dtypes.setdefault(dtypes, []).append(name)
    cases = []
    for dtypes, names in by_dtypes.items():
        conditions = " ||\n      ".join(f'operator_name == "{name}"' for name in names)
        cases.append(f"  if ({conditions}) {{\n    return {_is_one_of(dtypes)};\n  }}\n")
    return f"""\
// The dtypes that the kernels of {build.label} are built for.
// Generated from its selection; do not edit.
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <string_view>

// Both functions differ between libraries, so none may take another's: they are static.

/// Whether an operator's kernel handles a dtype. One that the selection tells nothing of handles all.
static constexpr bool should_include_kernel_dtype([[maybe_unused]] std::string_view operator_name,
                                                  [[maybe_unused]] executorch::aten::ScalarType scalar_type) {{
{"".join(cases)}  return true;
}}

/// Whether the kernel of any operator handles a dtype: for what they share.
static constexpr bool should_include_dtype([[maybe_unused]] executorch::aten::ScalarType scalar_type) {{
  return {_is_one_of(_union(list(build.operators.values())))};
}}
"""


def wrapper(build: SelectiveBuild, source: str) -> str:
    """A source that compiles another one behind the header."""
    return f"""\
// {Path(source).name} with the dtypes that {build.label} selects. Generated; do not edit.
#include "runtime/selective_build.h"

#include "{source}"
"""


def marks(build: SelectiveBuild) -> str:
    """A source with a name for each kernel's file, since a binary would link the kernel of one library for both."""
    # Two paths may be one name.
    names = dict.fromkeys(re.sub(r"\W", "_", source) for source in build.kernel_sources)
    definitions = "".join(f"char {name};\n" for name in names)
    return f"""\
// The files that {build.label} compiles for its dtypes. Generated; do not edit.
// Another library that compiles one of them for its dtypes defines the same name, so that no binary links with both.
namespace kernel_built_for_dtypes_by_two_libraries {{

{definitions}
}}  // namespace kernel_built_for_dtypes_by_two_libraries
"""


def _union(several: Sequence[Dtypes]) -> Dtypes:
    united: frozenset[int] = frozenset()
    for dtypes in several:
        if dtypes is None:
            return None
        united |= dtypes
    return united


def _is_one_of(dtypes: Dtypes) -> str:
    if dtypes is None:
        return "true"
    names = dtype_names(dtypes)
    return " ||\n         ".join(f"scalar_type == executorch::aten::ScalarType::{name}" for name in names) or "false"
