"""Compares compiled programs with the same programs in ExecuTorch's runtime.

    tools/bazel run //tools/bench:compiled_bench

The binaries have the same kernels, of one instruction set, and run on one thread of one processor. They take turns. In
a turn, a process runs one inference, and more of them in a loop. Writes a section of docs/benchmarks.md.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from absl import app, flags

from tools.bench import elf, report

_INSTRUCTION_SET = flags.DEFINE_string("instruction_set", None, "The instruction set of the kernels.", required=True)
_RUNTIME = flags.DEFINE_string("runtime", None, "ExecuTorch's runtime, libexecutorch.so.", required=True)
_TURNS = flags.DEFINE_integer("turns", 201, "Processes of each binary.", lower_bound=1)

_FOLDER = Path("tools/bench/compiled")
_NOTHING = _FOLDER / "nothing_main"
_WAYS = {
    "runtime": "ExecuTorch's runtime",
    "for_speed": "compiled, for speed",
    "for_size": 'compiled, `optimize = "size"`',
}
# Of the largest output.
_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Model:
    """A model.

    Attributes:
        title: the name in the table.
        program: the .pte file.
        runs: inferences of a process after the first, for some milliseconds.
    """

    title: str
    program: Path
    runs: int


_MODELS = {
    "mlp": Model("a perceptron, 32-64-64-10", _FOLDER / "mlp.pte", 10000),
    "lenet": Model("LeNet-5", _FOLDER / "lenet.pte", 300),
    "mobilenet_v2": Model("MobileNetV2, at a small size", Path("examples/mobilenet_v2/mobilenet_v2.pte"), 20),
    "tiny_llama": Model("a Llama with a KV cache, 16 steps", Path("examples/tiny_llama/tiny_llama.pte"), 500),
}


@dataclass
class Times:
    """What the processes of a binary took.

    Attributes:
        first: from before the start of a process to the end of the first inference, in nanoseconds.
        inference: the processor time of one of the other inferences, in nanoseconds.
        outputs: the outputs of the first inference.
    """

    first: list[float] = field(default_factory=list)
    inference: list[float] = field(default_factory=list)
    outputs: list[float] = field(default_factory=list)


def _binary(model: str, way: str) -> Path:
    return _FOLDER / f"{model}_{way}_main"


def _run(command: Sequence[str | Path], times: Times) -> None:
    """Runs a process, and adds its times. Between the two readings of the clock, there is only the process."""
    reader, writer = os.pipe()
    arguments = [os.fspath(part) for part in command]
    start = time.monotonic_ns()
    process = os.posix_spawn(
        arguments[0], arguments, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, writer, sys.stdout.fileno())]
    )
    os.close(writer)
    with open(reader) as pipe:
        said = pipe.read()
    _, status = os.waitpid(process, 0)
    if status != 0:
        raise SystemExit(f"{arguments[0]} failed")
    measured = json.loads(said)
    times.first.append(measured["first_end"] - start)
    times.inference.append(measured["inference"])
    times.outputs = measured["outputs"]


def measure(model: str, nothing: Times) -> dict[str, Times]:
    """Measures a model in all ways, in turns, and adds the times of a process without a program to `nothing`."""
    program, runs = _MODELS[model].program, str(_MODELS[model].runs)
    times = {way: Times() for way in _WAYS}
    for _ in range(_TURNS.value):
        _run([_NOTHING, "1"], nothing)
        for way in _WAYS:
            _run([_binary(model, way), runs, *([program] if way == "runtime" else [])], times[way])
    expected = times["runtime"].outputs
    most = _TOLERANCE * max(map(abs, expected))
    for way in _WAYS:
        if any(abs(a - b) > most for a, b in zip(expected, times[way].outputs, strict=True)):
            raise SystemExit(f"{_binary(model, way)} has other outputs than the runtime")
    return times


def _first(times: Times) -> str:
    """Returns the time to the end of the first inference in milliseconds."""
    return f"{statistics.median(times.first) / 1e6:.2f}"


def rows() -> list[list[object]]:
    """Measures all models."""
    result: list[list[object]] = []
    nothing = Times()
    for name, model in _MODELS.items():
        for way, times in measure(name, nothing).items():
            result.append(
                [
                    f"{model.title}; {_WAYS[way]}",
                    _first(times),
                    f"{statistics.median(times.inference) / 1e3:,.2f}",
                    f"{_binary(name, way).stat().st_size:,}",
                    f"{model.program.stat().st_size:,}" if way == "runtime" else "",
                ]
            )
    result.append(["no program", _first(nothing), "", f"{_NOTHING.stat().st_size:,}", ""])
    return result


def main(argv: list[str]) -> None:
    del argv
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    header = ["program", "first inference, ms", "one inference, µs", "binary, bytes", "program, bytes"]
    section = (
        "## Compiled programs and the runtime\n\n"
        "The table compares [compiled programs](compiled_programs.md) with the same programs in ExecuTorch's runtime."
        f" All have the same kernels, for the instruction set `{_INSTRUCTION_SET.value}` only, except that programs for"
        f" size have [loops in place of most kernels](compiled_programs.md#small-code). One thread runs them"
        f" ({report.processor()}, {elf.compiler(_binary('mlp', 'runtime'))}). The first column is the time from the"
        " start of a process to the end of the first inference; in the last row, the process runs nothing. The second"
        " one is the processor time of an inference in a loop, with a copy of the inputs. Both are medians of"
        f" {_TURNS.value} processes, which take turns. The runtime's API is that of `Program` and `Method`, with a"
        " mapped file and planned memory that the linker places.\n\n"
        "Binaries are stripped, and link the C and C++ libraries dynamically. A compiled program contains its"
        " constants. The runtime's binary has kernels and their registration; it also needs the program's file, and"
        f" `libexecutorch.so` of the wheel, which has {Path(_RUNTIME.value).stat().st_size:,} bytes.\n\n"
        "    tools/bazel run //tools/bench:compiled_bench\n\n" + report.table(header, rows())
    )
    report.publish("compiled_bench", section)


if __name__ == "__main__":
    app.run(main)
