"""Writes the sources of a dtype-selective build: only selected kernels, with only the selected dtypes.

    codegen prune --label //ops:lib --manifest registered.json --selection selected_operators.yaml \\
        --source 0:op_add.cpp:aten::add.out,aten::add.Scalar_out --source 0:convert.cpp: --directory sources \\
        --header selected_op_variants.h --dtypes dtypes.json --marks SelectedKernels.cpp

--source has the number of a directory, a source file and the operators that the file implements. The directory gets a
source for each file that implements a selected operator, and for each file without operators, which operators share.
Each written source includes the header and then the original file, or with --unity_build several files. Without
--header, --dtypes and --marks, kernels keep all dtypes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from absl import flags

from codegen.artifacts import registered_operators, selective_build
from codegen.artifacts.selective_build import SelectiveBuild
from codegen.commands import define, shared_flags
from codegen.cpp import selective_build as selective_build_cpp
from codegen.inputs import selected_operators
from codegen.model import promotion, selection

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the library")
_MANIFEST = shared_flags.registered(FLAGS)
_SELECTIONS = shared_flags.selections(FLAGS)
_SOURCES = define.several(
    FLAGS,
    "source",
    "A source, as the number of its --directory from 0, its path, and the operators that it implements: "
    "number:path:operator,operator.",
)
_DIRECTORIES = define.several(FLAGS, "directory", "Where to write sources to compile.")
_UNITY_BUILD = flags.DEFINE_multi_integer(
    "unity_build",
    [],
    "The number of a --directory with sources that a translation unit may include several of.",
    flag_values=FLAGS,
)
_SOURCES_PER_UNIT = flags.DEFINE_integer(
    "sources_per_unit", 1, "How many sources a translation unit of --unity_build has on average.", 1, flag_values=FLAGS
)
_HEADER = define.optional(FLAGS, "header", "Where to write the header that says which dtypes to handle.")
_DTYPES = define.optional(FLAGS, "dtypes", "Where to write which operators handle which dtypes, as JSON.")
_MARKS = define.optional(
    FLAGS, "marks", "Where to write a source that keeps two libraries with the same kernels out of one binary."
)


def run() -> None:
    wanted = selection.unite([selected_operators.read(path) for path in _SELECTIONS.value])
    registered = [
        operator
        for operator in registered_operators.read(_MANIFEST.value).operators
        if not all(kernel.is_aten for kernel in operator.kernels)
    ]
    selected = {operator.name: promotion.selected(operator.schema, wanted) for operator in registered}
    sources: list[tuple[int, str]] = []
    kernel_sources: list[str] = []
    operators = dict(selected)
    for text in _SOURCES.value:
        number_text, path, names = text.split(":", 2)
        implemented = names.split(",") if names else []
        if implemented and not selected.keys() & set(implemented):
            continue
        sources.append((int(number_text), path))
        if implemented:
            kernel_sources.append(path)
        # Operators of the source that are not selected are compiled for no dtype.
        operators |= {name: frozenset() for name in implemented if name not in selected}
    build = SelectiveBuild(_LABEL.value, operators, tuple(kernel_sources))
    by_dtype = _HEADER.value is not None
    if _HEADER.value is not None:
        Path(_HEADER.value).write_text(selective_build_cpp.header(build))
    if _DTYPES.value is not None:
        selective_build.write(build, _DTYPES.value)
    if _MARKS.value is not None:
        Path(_MARKS.value).write_text(selective_build_cpp.marks(build))
    for number, directory in enumerate(_DIRECTORIES.value):
        paths = [path for group, path in sources if group == number]
        for unit in _units(paths) if number in _UNITY_BUILD.value else [[path] for path in paths]:
            # A file of the root package needs another name than its own, by which the written source includes it.
            prefix = "unity_" if len(unit) > 1 else "" if "/" in unit[0] else "_"
            written = Path(directory, prefix + unit[0].replace("/", "_"))
            written.write_text(selective_build_cpp.wrapper(build, unit, by_dtype))


def _units(paths: Sequence[str]) -> list[list[str]]:
    """Splits sources into translation units.

    The unit of a source depends on its path and the number of units only. So another source changes one unit, unless
    the number of units changes.
    """
    number = -(-len(paths) // _SOURCES_PER_UNIT.value)
    units: list[list[str]] = [[] for _ in range(number)]
    for path in paths:
        digest = hashlib.sha256(path.encode()).digest()
        units[int.from_bytes(digest[:8], "big") % number].append(path)
    return [unit for unit in units if unit]
