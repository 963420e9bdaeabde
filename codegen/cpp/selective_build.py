"""The C++ of a dtype-selective build: the header with the selected dtypes, and the sources of the kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from codegen.artifacts.selective_build import Dtypes, SelectiveBuild
from codegen.cpp import layout, template
from codegen.model import kernel_keys


def header(build: SelectiveBuild) -> str:
    """Returns selected_op_variants.h, with ExecuTorch's own function, and a function for code that operators share."""
    by_name: dict[str, Dtypes] = {}
    for operator, dtypes in build.operators.items():
        # A kernel may name its operator with or without the namespace.
        for name in (operator, operator.partition("::")[2]):
            by_name[name] = _union([by_name.get(name, frozenset()), dtypes])
    by_dtypes: dict[frozenset[int], list[str]] = {}
    for name, dtypes in sorted(by_name.items()):
        if dtypes is not None:
            by_dtypes.setdefault(dtypes, []).append(name)
    cases = (
        template.fill(
            "dtype_case.h",
            is_operator=" ||\n      ".join(f"operator_name == {layout.quoted(name)}" for name in names),
            is_selected=_is_one_of(dtypes),
        )
        for dtypes, names in by_dtypes.items()
    )
    return template.fill(
        "selected_op_variants.h",
        label=build.label,
        cases="".join(cases),
        is_any_selected=_is_one_of(_union(list(build.operators.values()))),
    )


def wrapper(build: SelectiveBuild, sources: Sequence[str], by_dtype: bool) -> str:
    """Returns a source that includes other sources, and before them the header if `by_dtype`."""
    names = ", ".join(Path(source).name for source in sources)
    includes = "".join(f'#include "{source}"\n' for source in sources)
    if by_dtype:
        return template.fill("KernelForDtypes.cpp", names=names, label=build.label, includes=includes)
    return template.fill("SelectedKernel.cpp", names=names, label=build.label, includes=includes)


def marks(build: SelectiveBuild) -> str:
    """Returns a source that defines a name for each kernel's file.

    If two libraries compile the same kernel for their own dtypes, a binary would silently link the kernel of one
    library for both. With the names, the linker fails.
    """
    # Two paths may give the same name.
    names = dict.fromkeys(re.sub(r"\W", "_", source) for source in build.kernel_sources)
    return template.fill("SelectedKernels.cpp", label=build.label, names="".join(f"char {name};\n" for name in names))


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
    names = kernel_keys.dtype_names(dtypes)
    return " ||\n         ".join(f"scalar_type == executorch::aten::ScalarType::{name}" for name in names) or "false"
