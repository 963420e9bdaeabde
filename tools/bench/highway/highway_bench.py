"""Compares kernels/simd with Highway: the time, the code size and the compile time of three parts of the kernels.

    tools/bazel run //tools/bench:highway_bench

The sources are the kernels' own. They include `kernels/simd/simd.h`, which is the header of kernels/simd or, with the
folder of this file before the workspace, the same API with operations of Highway. Writes a section of
docs/benchmarks.md.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from absl import app, flags

from kernels.testing import processor
from tools.bench import kernel_objects, report

_COMPARE = flags.DEFINE_string("compare", None, "The program that compares two libraries.", required=True)
_HIGHWAY = flags.DEFINE_string("highway", None, "The header <hwy/highway.h>.", required=True)
_RUNTIME = flags.DEFINE_string("runtime", None, "A library of the runtime.", required=True)
_COMPILATIONS = flags.DEFINE_integer("compilations", 5, "Compilations of each file.", lower_bound=1)
_RUNS = flags.DEFINE_integer("runs", 7, "Runs of the program that compares.", lower_bound=1)
_ROUNDS = flags.DEFINE_integer("rounds", 101, "Rounds of a run.", lower_bound=1)

# The sets of rules/private/actions/instruction_sets.bzl. There is no avx512_bf16, since Highway has no such set: its
# next set after AVX-512 needs eight more groups of instructions.
_SETS: Mapping[str, Sequence[str]] = {
    "baseline": (),
    "avx2": ("-march=x86-64-v3",),
    "avx512": ("-march=x86-64-v4", "-mprefer-vector-width=512"),
}
_FILES = {"tile": "product of floats", "exponentials": "`exp`, `silu`", "bytes": "product of bytes"}
_OURS, _HIGHWAYS = "ours", "highway"
_LIBRARIES = (_OURS, _HIGHWAYS)
_TEXT = re.compile(r"^\.text\S*\s+(\d+)", re.MULTILINE)

_SECTION = """
## Highway

Parts of the kernels (`kernels/gemm/product_loops.h`,
`kernels/math/exponentials.h`, `kernels/gemm/integer_product.cpp`) with
[kernels/simd](../kernels/simd/README.md), and the differences with the operations of
[Highway](https://github.com/google/highway) {version} in place of those of kernels/simd. The sources and the options of
the compiler are the same. The results are the same, except that sums of floats may be rounded differently.
[Why the kernels have their own vectors](optimized_kernels.md#why-the-kernels-have-their-own-vectors) has the decision.

    tools/bazel run //tools/bench:highway_bench

{processor}, {compiler}, one thread. The libraries take turns. A time is the best of
{rounds} rounds; differences are the median of {runs} runs, with the least and the largest in parentheses.

{times}

Bytes of code, and CPU seconds of the compiler, the median of {compilations} compilations in turns:

{costs}

`exponentials.h` has no vectors of kernels/simd for the baseline, so that its differences there are those of the
measurement.{not_run}
"""


def _compile(library: str, options: Sequence[str], source: Path, to: Path) -> float:
    """Compiles a file. Returns the CPU seconds."""
    layer = []
    if library == _HIGHWAYS:
        layer = ["-iquote", str(_folder()), "-isystem", str(Path(_HIGHWAY.value).resolve().parents[1])]
    command = kernel_objects.compiler(Path(_RUNTIME.value))
    return kernel_objects.cpu_seconds(
        [*command, "-fvisibility=hidden", *options, *layer, "-c", str(source), "-o", str(to)]
    )


def _compiler() -> str:
    return kernel_objects.compiler(Path(_RUNTIME.value))[0]


def _folder() -> Path:
    return kernel_objects.workspace() / "tools/bench/highway"


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _bytes_of_code(file: Path) -> int:
    return sum(map(int, _TEXT.findall(_output("size", "--format=sysv", str(file)))))


def _difference(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f}%"


class _Set:
    """The objects of one instruction set.

    Args:
        name: the instruction set.
        folder: a folder for the objects.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._name, self._folder = name, folder

    def _object(self, library: str, file: str) -> Path:
        return self._folder / f"{self._name}_{library}_{file}.o"

    def costs(self) -> Iterator[tuple[object, ...]]:
        """Compiles the files. Yields a row of the table of costs for each."""
        for file, routines in _FILES.items():
            seconds: dict[str, list[float]] = {library: [] for library in _LIBRARIES}
            for _ in range(_COMPILATIONS.value):
                for library in _LIBRARIES:
                    source = _folder() / f"{file}.cpp"
                    seconds[library].append(_compile(library, _SETS[self._name], source, self._object(library, file)))
            ours, highways = (statistics.median(seconds[library]) for library in _LIBRARIES)
            our_bytes, highways_bytes = (_bytes_of_code(self._object(library, file)) for library in _LIBRARIES)
            yield (
                routines,
                f"`{self._name}`",
                f"{our_bytes:,}",
                _difference(highways_bytes / our_bytes),
                f"{ours:.2f}",
                _difference(highways / ours),
            )

    def times(self) -> Iterator[tuple[object, ...]]:
        """Links and runs the objects of costs(). Yields a row of the table of times for each routine."""
        table = self._folder / "byte_table.o"  # Neither library's product of bytes calls this table.
        _compile(_OURS, (), kernel_objects.workspace() / "kernels/math/byte_table.cpp", table)
        linked = [self._folder / f"{self._name}_{library}.so" for library in _LIBRARIES]
        for library, to in zip(_LIBRARIES, linked, strict=True):
            objects = [str(self._object(library, file)) for file in _FILES]
            _output(_compiler(), "-shared", *objects, str(table), "-o", str(to))
        compare = (str(Path(_COMPARE.value).resolve()), *map(str, linked), str(_ROUNDS.value))
        found: dict[str, list[tuple[float, float]]] = {}
        for _ in range(_RUNS.value):
            for line in _output(*compare).splitlines():
                routine, ours, highways = line.split("\t")
                found.setdefault(routine, []).append((float(ours), float(highways)))
        for routine, pairs in found.items():
            ratios = [highways / ours for ours, highways in pairs]
            spread = f"{_difference(min(ratios))} to {_difference(max(ratios))}"
            best = min(ours for ours, _ in pairs)
            yield (
                routine,
                f"`{self._name}`",
                f"{best / 1e3:,.1f}",
                f"{_difference(statistics.median(ratios))} ({spread})",
            )


def _version() -> str:
    text = Path(_HIGHWAY.value).with_name("base.h").read_text()
    found = dict(re.findall(r"#define HWY_(MAJOR|MINOR|PATCH) (\d+)", text))
    return ".".join(found[part] for part in ("MAJOR", "MINOR", "PATCH"))


def main(_: Sequence[str]) -> None:
    has = processor.instruction_sets()
    times: list[tuple[object, ...]] = []
    costs: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in _SETS:
            one = _Set(name, Path(folder))
            costs += one.costs()
            times += one.times() if name in has else ()
    missing = [f"`{name}`" for name in _SETS if name not in has]
    section = _SECTION.format(
        version=_version(),
        processor=report.processor(),
        compiler=_output(_compiler(), "--version").splitlines()[0],
        rounds=_ROUNDS.value,
        runs=_RUNS.value,
        compilations=_COMPILATIONS.value,
        times=report.table(("routine", "set", "µs", "Highway"), times),
        costs=report.table(("routines", "set", "bytes", "Highway", "CPU seconds", "Highway"), costs),
        not_run=f" This processor cannot run {', '.join(missing)}." if missing else "",
    )
    report.replace_section(kernel_objects.workspace() / "docs/benchmarks.md", "highway", section)


if __name__ == "__main__":
    app.run(main)
