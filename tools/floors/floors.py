"""Prints the imports between folders, and fails on an import from a higher floor.

    tools/bazel run //tools/floors

A folder may use folders on lower floors: Python by `import`, C++ by `#include`, Starlark by `load`. Folders on the same
floor must not import from each other.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from absl import app

# The floors from the bottom up. A folder that is not listed belongs to the nearest listed parent folder.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("kernels", "kernels/simd", "runtime/kernel_api", "runtime/tolerances"),
    ("kernels/math", "kernels/parallel"),
    ("kernels/tensors",),
    ("kernels/views",),
    ("kernels/copy",),
    ("kernels/elementwise", "kernels/fourier", "kernels/gemm", "kernels/images", "kernels/linalg", "kernels/reduce"),
    (
        "bazel_worker",
        "codegen/cache",
        "codegen/source_templates",
        "diagnostics",
        "kernels/attention",
        "kernels/convolution",
        "kernels/fixed",
        "kernels/quantize",
        "kernels/recurrent",
        "rules/private/providers",
        "rules/private/toolchains",
        "runtime/probe",
        "runtime/runner",
    ),
    (
        "codegen/model",
        "export/user",
        "kernels/optimized",
        "kernels/portable",
        "kernels/quantized",
        "qnn/opdef",
        "rules/private/actions",
        "rules/private/repositories",
        "runtime/aoti",
        "runtime/aten",
        "runtime/compiled",
        "runtime/python",
        "runtime/torch",
    ),
    (
        "codegen/artifacts",
        "codegen/binaries",
        "export/process",
        "qnn/checks",
        "qnn/registration",
        "qnn/skeleton",
        "rules/private/executorch",
        "rules/private/qnn",
        "rules/private/torch",
    ),
    ("codegen/checks", "codegen/inputs", "rules"),
    ("codegen/cpp", "codegen/facts", "codegen/pages", "codegen/python", "export/graph_passes", "export/patches"),
    ("codegen/compiled", "export/emulator", "export/memory", "export/report"),
    ("codegen/commands", "export/lower"),
    ("codegen", "export", "profiles"),
    ("qnn", "third_party", "torch_ops"),
)
# Tests, benchmarks and fuzz targets may import from any folder.
_FREE = frozenset({"bench", "fuzz", "testing", "tests"})
_INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)
_LOAD = re.compile(r'^load\(\s*"(?:@rules_executorch)?//([^":]*)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Import:
    """One import between two folders.

    Attributes:
        source: the importing file, relative to the root.
        line: the line of the import, from 1.
        target: the imported module or file, relative to the root, with `/` between the parts.
    """

    source: Path
    line: int
    target: str


def folder(path: str, floors: Sequence[Sequence[str]] = FLOORS) -> str | None:
    """Returns the listed folder of a path; None if there is none."""
    listed = {name for floor in floors for name in floor}
    parts = path.split("/")
    return next((name for i in range(len(parts), 0, -1) if (name := "/".join(parts[:i])) in listed), None)


def imports(root: Path) -> Iterator[Import]:
    """Yields all imports of the files below a folder, in the order of the paths."""
    readers = {".py": _python, ".cpp": _cpp, ".h": _cpp, ".bzl": _starlark}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.suffix in readers and not _FREE & set(name.parts) and not path.stem.endswith("_test"):
            for line, target in readers[path.suffix](path.read_text(errors="replace")):
                yield Import(name, line, target)


def running_up(found: Sequence[Import], floors: Sequence[Sequence[str]] = FLOORS) -> list[str]:
    """Returns a line for each import that does not lead to a lower floor."""
    level = {name: number for number, floor in enumerate(floors) for name in floor}
    lines = []
    for each in found:
        source, target = folder(str(each.source.parent), floors), folder(each.target, floors)
        if source and target and source != target and level[source] <= level[target]:
            where = "the same floor" if level[source] == level[target] else "a higher floor"
            lines.append(f"{each.source}:{each.line}:1: error: {source} imports {target}, which is on {where}")
    return lines


def _python(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name.replace(".", "/")
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}".replace(".", "/")


def _cpp(text: str) -> Iterator[tuple[int, str]]:
    return _matches(_INCLUDE, text)


def _starlark(text: str) -> Iterator[tuple[int, str]]:
    return _matches(_LOAD, text)


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match[1]


def report(found: Sequence[Import]) -> str:
    """Returns the folders from the bottom up, each with the number of imports from other folders."""
    counts: dict[str, Counter[str]] = {name: Counter() for floor in FLOORS for name in floor}
    for each in found:
        source, target = folder(str(each.source.parent)), folder(each.target)
        if source and target and source != target:
            counts[source][target] += 1
    lines = []
    for number, floor in enumerate(FLOORS):
        for name in floor:
            used = ", ".join(f"{target} ({count})" for target, count in sorted(counts[name].items()))
            lines.append(f"{number}  {name}: {used or 'nothing'}")
    pairs = sum(len(targets) for targets in counts.values())
    return "\n".join([*lines, f"{len(counts)} folders on {len(FLOORS)} floors, {pairs} imports between them"])


def all_imports(root: Path) -> Iterator[Import]:
    """Yields all imports of the files in listed folders.

    Args:
        root: the root of this repository.
    """
    for name in sorted({name.partition("/")[0] for floor in FLOORS for name in floor}):
        for each in imports(root / name):
            yield Import(Path(name) / each.source, each.line, each.target)


def main(argv: Sequence[str]) -> int:
    del argv
    found = list(all_imports(Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))))
    print(report(found))
    wrong = running_up(found)
    print("".join(f"{line}\n" for line in wrong), end="", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    app.run(main)
