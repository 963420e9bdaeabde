"""What a dtype-selective build is compiled from: the header that says which dtypes to handle, and the kernels' sources.

Also the record of it, `dtypes.json`, which `codegen check` compares with programs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen import kernel_keys
from codegen.errors import CodegenError, Finding

# The dtypes that an operator's kernel handles; None for all of them.
Dtypes = frozenset[int] | None


@dataclass(frozen=True, slots=True)
class SelectiveBuild:
    """The dtypes that a library's kernels are built for.

    Attributes:
        label: the library's label.
        operators: the dtypes of each operator, by its full name.
        kernel_sources: the files of the operators' kernels, without what they share.
    """

    label: str
    operators: Mapping[str, Dtypes]
    kernel_sources: tuple[str, ...]


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


def write(build: SelectiveBuild, path: str) -> None:
    """Writes dtypes.json; equal builds give equal bytes."""
    operators = [
        f"{json.dumps(name)}: {json.dumps(None if dtypes is None else dtype_names(dtypes))}"
        for name, dtypes in sorted(build.operators.items())
    ]
    head = json.dumps({"label": build.label, "kernel_sources": build.kernel_sources})
    Path(path).write_text(f'{head[:-1]}, "operators": {{\n' + ",\n".join(operators) + "\n}}\n")


def read(path: str) -> SelectiveBuild:
    """Reads what `write` wrote.

    Raises:
        CodegenError: the file is not a dtypes.json.
    """
    try:
        content = json.loads(Path(path).read_text())
        operators = {
            name: None if dtypes is None else frozenset(_number(dtype) for dtype in dtypes)
            for name, dtypes in content["operators"].items()
        }
        return SelectiveBuild(content["label"], operators, tuple(content["kernel_sources"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CodegenError(
            Finding(
                where=path,
                found=f"not the dtypes of a dtype-selective build: {type(error).__name__}: {error}",
                cause="another file was given, or one that another version of the code generator wrote",
                fix="give the dtypes.json that 'codegen prune' writes",
                id="not-a-selective-build",
            )
        ) from error


def dtype_names(dtypes: frozenset[int]) -> list[str]:
    """The dtypes' names in the order of their numbers."""
    return [kernel_keys.dtype_name(dtype) for dtype in sorted(dtypes)]


def _number(name: str) -> int:
    number = kernel_keys.find_dtype(name)
    if number is None:
        raise ValueError(f"{name} is no dtype")
    return number


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
