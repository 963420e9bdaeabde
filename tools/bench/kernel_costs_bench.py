"""Writes docs/kernel_costs.md: the code size of the kernels, compared with ExecuTorch's kernels, and the compile times.

    tools/bazel run //tools/bench:kernel_costs_bench     # or: -- --nosizes, for the compile times only

The document explains the measurements.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from absl import app, flags

from tools.bench import kernel_objects, reachable_text, report

_SIZES = flags.DEFINE_bool("sizes", True, "Measure the code as well.")

_DOCUMENT = "docs/kernel_costs.md"
_SLOWEST = 10

_SYMBOL = re.compile(r"^[0-9a-f]+ T (\S+)$", re.MULTILINE)
_TEXT = re.compile(r"^\.text\s+(\d+)", re.MULTILINE)


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class _Linker:
    """Links kernels and measures their size."""

    def __init__(self, objects: kernel_objects.Objects) -> None:
        self._objects = objects
        self._common = [
            objects.path(source)
            for source in kernel_objects.sources()
            if source.parent.name not in kernel_objects.LIBRARIES
        ]

    def text(self, operators: Sequence[kernel_objects.Operator]) -> int:
        files = sorted({self._objects.path(operator.source) for operator in operators})
        mangled = _SYMBOL.findall(_output("nm", "--defined-only", "--no-sort", *map(str, files)))
        names = _output("c++filt", *mangled).splitlines()
        wanted = {operator.kernel for operator in operators}
        kept = [symbol for symbol, name in zip(mangled, names, strict=True) if name.partition("(")[0] in wanted]
        assert len(kept) >= len(wanted), f"{wanted} are not in {files}"
        script = self._objects.directory / "kept.lds"
        script.write_text("{ global: " + " ".join(f"{symbol};" for symbol in kept) + " local: *; };")
        linked = self._objects.directory / "linked.so"
        subprocess.run(
            ["g++", "-shared", "-nostdlib", "-Wl,--gc-sections", f"-Wl,--version-script={script}", "-o", str(linked)]
            + [str(file) for file in (*files, *self._common)],
            check=True,
        )
        found = _TEXT.search(_output("size", "--format=sysv", str(linked)))
        assert found
        return int(found[1])


def _compile_table(seconds: Mapping[Path, float], headers: float) -> str:
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:_SLOWEST]
    rows = [
        ("all files", len(seconds), f"{sum(seconds.values()):.1f}"),
        ("the same, were there nothing but `kernel_includes.h`", len(seconds), f"{len(seconds) * headers:.1f}"),
    ]
    rows += [(f"`{source.parent.name}/{source.name}`", 1, f"{spent:.1f}") for source, spent in slowest]
    return report.table(("", "files", "CPU seconds"), rows)


def _size_tables(linkers: Sequence[_Linker], libraries: Sequence[reachable_text.Text]) -> str:
    def theirs(some: Sequence[kernel_objects.Operator]) -> int:
        # 23 operators have optimized kernels in place of portable ones.
        names = {o.kernel.replace("::native::", f"::native::{prefix}") for o in some for prefix in ("", "opt_")}
        return sum(library.bytes_of(names) for library in libraries)

    def sizes(some: Sequence[kernel_objects.Operator]) -> list[str]:
        return [f"{size:,}" for size in (*(linker.text(some) for linker in linkers), theirs(some))]

    operators = kernel_objects.operators()
    rows = [("all", *sizes(operators))]
    rows += [(f"`{operator.name}`", *sizes([operator])) for operator in operators]
    return report.table(("operator", "whole", "with Float only", "ExecuTorch's"), rows)


def main(argv: list[str]) -> None:
    runtime = Path(argv[1])
    document = kernel_objects.workspace() / _DOCUMENT
    whole = kernel_objects.Objects(runtime)
    report.replace_section(document, "compiling", _compile_table(whole.compile_all(), whole.compile_headers()))
    if not _SIZES.value:
        return
    float_only = kernel_objects.Objects(runtime, float_only=True)
    float_only.compile_all()
    folder = runtime.resolve().parent
    libraries = [
        reachable_text.Text(folder / f"libexecutorch_kernels_{name}.so") for name in ("optimized", "quantized")
    ]
    report.replace_section(document, "sizes", _size_tables([_Linker(whole), _Linker(float_only)], libraries))


if __name__ == "__main__":
    app.run(main)
