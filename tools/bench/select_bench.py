"""CPU time and memory of one `codegen select` for a model, by the model's calls and by the file's size.

    tools/bazel run //tools/bench:select_bench

Each measurement is a process of its own, from the interpreter's start to its end, as a build without workers runs it.
Its peak of memory is what Linux says, which is no less than this program has when it starts the process. The segments
of a large program, its weights, are a hole in the file: they take no space on the disk, but whoever copies the file
into memory pays for them.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from codegen.tests import programs

_RUNS = flags.DEFINE_integer("runs", 9, "How often to measure each.", lower_bound=1)

_CODEGEN = Path(programs.__file__).parents[1] / "codegen"
_MIB = 1 << 20
_OPERATORS = 60
# Calls of the program, and the size of its file; None for the size that the calls take.
_CASES = ((100, None), (1_000, None), (10_000, None), (100, 1 << 30))


def _program(calls: int) -> bytes:
    """A program whose calls take what the last one returned, weights of their own, and scalars."""
    dim_orders = ((), (0,), (0, 1), (0, 1, 2, 3), (0, 2, 3, 1))
    chain = []
    last = programs.Tensor(6, (0, 1))
    for i in range(calls):
        weight, out = programs.Tensor(6, dim_orders[i % 5]), programs.Tensor((6, 5, 15, 4)[i % 4], dim_orders[i % 5])
        chain.append(programs.Call(f"aten::operator_{i % _OPERATORS}.out", (last, weight, 1, None, out, out)))
        last = out
    return programs.build({"forward": [chain]})


def _run(path: str, output: str) -> tuple[float, int]:
    """Selects for a program; the CPU seconds, in user and system mode, and the peak of the memory in bytes."""
    arguments = ["select", f"--model={path}", "--model_name=//:model", f"--output={output}"]
    process = subprocess.Popen([_CODEGEN, *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(process.returncode)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main(argv: Sequence[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError("This takes no arguments.")
    print(f"{_RUNS.value} runs each\n")
    print(f"{'calls':>8}{'file, MiB':>12}{'CPU s, median':>16}{'least':>8}{'most':>8}{'memory, MiB':>14}")
    with tempfile.TemporaryDirectory() as directory:
        path, output = f"{directory}/model.pte", f"{directory}/selected_operators.yaml"
        for calls, size in _CASES:
            program = _program(calls)
            programs.write_large(path, program, size or len(program))
            _run(path, output)  # Fills the file cache.
            seconds, memory = zip(*(_run(path, output) for _ in range(_RUNS.value)), strict=True)
            print(
                f"{calls:>8}{os.path.getsize(path) / _MIB:>12.1f}{statistics.median(seconds):>16.3f}"
                f"{min(seconds):>8.3f}{max(seconds):>8.3f}{max(memory) / _MIB:>14.1f}"
            )


if __name__ == "__main__":
    app.run(main)
