"""Compiles the kernels as Bazel does, file by file, for benchmarks of their costs.

Sources and flags come from the workspace: kernels/portable, kernels/quantized and their helpers, with operators.bzl and
copts.bzl.
"""

from __future__ import annotations

import dataclasses
import os
import re
import statistics
import subprocess
import tempfile
import types
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIBRARIES = ("portable", "quantized")

_FILES_OF_HEADERS = 20

# The flags of --compilation_mode=opt, and those for users of the headers.
_FLAGS = (
    "-std=c++17",
    "-O2",
    "-g0",
    "-DNDEBUG",
    "-D_FORTIFY_SOURCE=1",
    "-fPIC",
    "-ffunction-sections",
    "-fdata-sections",
    "-DC10_USING_CUSTOM_GENERATED_MACROS",
)

# A header that leaves only Float in each switch over dtypes.
_FLOAT_ONLY = """
#pragma once
#include <executorch/runtime/core/exec_aten/exec_aten.h>
inline constexpr bool should_include_dtype(executorch::aten::ScalarType type) {
  return type == executorch::aten::ScalarType::Float;
}
inline constexpr bool should_include_kernel_dtype(const char* name, executorch::aten::ScalarType type) {
  return *name == '\\0' || should_include_dtype(type);
}
"""


def workspace() -> Path:
    return Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))


def starlark(path: Path) -> dict[str, object]:
    """Evaluates a .bzl file that calls no rules. Returns the defined names."""

    def load(label: str, *names: str) -> None:
        loaded = starlark(workspace() / label.removeprefix("//").replace(":", "/"))
        values.update({name: loaded[name] for name in names})

    values: dict[str, object] = {"load": load, "struct": types.SimpleNamespace}
    exec(path.read_text(), values)
    return values


def compiler(runtime: Path) -> list[str]:
    """Returns the command that compiles a file of the kernels, without the names of the files.

    Args:
      runtime: a library of the runtime. The headers are beside the library's folder.
    """
    include = runtime.resolve().parents[1] / "include"
    copts: list[str] = starlark(workspace() / "kernels/copts.bzl")["KERNEL_COPTS"]  # type: ignore[assignment]
    # Generated headers are in the working directory.
    headers = [workspace(), Path.cwd(), include, include / "executorch/runtime/core/portable_type/c10"]
    return [os.environ.get("CXX", "g++"), *_FLAGS, *copts, *(f"-I{folder}" for folder in headers)]


def cpu_seconds(command: Sequence[str]) -> float:
    """Runs a command. Returns the CPU seconds.

    Raises:
      SystemExit: the command fails.
    """
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator with the function and the file of its kernel."""

    name: str
    kernel: str
    source: Path


def operators() -> list[Operator]:
    result = []
    for library in LIBRARIES:
        folder = workspace() / "kernels" / library
        files: dict[str, types.SimpleNamespace] = starlark(folder / "operators.bzl")["OPERATOR_FILES"]  # type: ignore[assignment]
        sources = {name: folder / f"{file}.cpp" for file, entry in files.items() for name in entry.operators}
        yamls = "\n".join(path.read_text() for path in sorted(folder.glob("*.yaml")))
        for entry in re.split(r"^- ", yamls, flags=re.MULTILINE)[1:]:
            head = entry.split(":", 1)[1].strip().partition("\n")[0].partition("(")[0]
            name = head if "::" in head else f"aten::{head}"
            kernel = re.findall(r"kernel_name: (\S+)", entry)[0]
            namespace, _, function = kernel.rpartition("::")
            result.append(Operator(name, f"{namespace}::native::{function}", sources[name]))
    return sorted(result, key=lambda operator: operator.name)


def sources() -> list[Path]:
    """Returns the source files of kernels and of their helpers."""
    libraries = {"optimized", "testing", *LIBRARIES}
    kernels = workspace() / "kernels"
    helpers = [
        path
        for path in kernels.rglob("*.cpp")
        if path.relative_to(kernels).parts[0] not in libraries and path.parent.name != "tests"
    ]
    return sorted({*helpers, *(operator.source for operator in operators())})


class Objects:
    """The kernels' object files.

    Args:
      runtime: a library of the runtime. The headers are beside the library's folder.
      float_only: whether to leave out all dtypes except Float, as dtype_selective_build does.
    """

    def __init__(self, runtime: Path, *, float_only: bool = False) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self.directory = Path(self._directory.name)
        self._command = compiler(runtime)
        if float_only:
            header = self.directory / "executorch/kernels/portable/cpu/selected_op_variants.h"
            header.parent.mkdir(parents=True)
            header.write_text(_FLOAT_ONLY)
            selective = workspace() / "runtime/kernel_api/selective_build.h"
            # Before the folder with ExecuTorch's header of this name.
            self._command[1:1] = [
                f"-I{self.directory}",
                "-DEXECUTORCH_SELECTIVE_BUILD_DTYPE",
                "-include",
                str(selective),
            ]

    def path(self, source: Path) -> Path:
        return self.directory / f"{source.parent.name}_{source.stem}.o"

    def compile(self, source: Path) -> float:
        """Compiles one file. Returns the CPU seconds."""
        return cpu_seconds([*self._command, "-c", str(source), "-o", str(self.path(source))])

    def compile_all(self) -> dict[Path, float]:
        """Compiles all files. Returns the CPU seconds of each file."""
        return self._compile(sources())

    def compile_headers(self) -> float:
        """Compiles files that only include ExecuTorch's headers for kernels. Returns the CPU seconds of one file."""
        files = [self.directory / f"headers_{i}.cpp" for i in range(_FILES_OF_HEADERS)]
        for file in files:
            file.write_text("#include <executorch/runtime/kernel/kernel_includes.h>\n")
        return statistics.mean(self._compile(files).values())

    def _compile(self, files: Sequence[Path]) -> dict[Path, float]:
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return dict(zip(files, pool.map(self.compile, files), strict=True))
