"""Measures the CPU time and memory of `codegen select` for a model, by the model's calls and the file's size.

    tools/bazel run //tools/bench:select_bench

Each measurement is a whole process, as in a build without workers. The segments of a large program, its weights, are a
hole in the file. A hole takes no space on the disk, but a copy of the file in memory has the full size.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Sequence

from absl import app, flags

from codegen.tests import programs
from tools.bench import code_generator

_RUNS = flags.DEFINE_integer("runs", 9, "How often to measure each.", lower_bound=1)

_MIB = 1 << 20
_OPERATORS = 60
# The calls of the program, and the size of the file; None for the size of the calls only.
_CASES = ((100, None), (1_000, None), (10_000, None), (100, 1 << 30))


def _program(calls: int) -> bytes:
    """Returns a program with a chain of calls. Each call takes the result of the last one, a weight, and scalars."""
    dim_orders = ((), (0,), (0, 1), (0, 1, 2, 3), (0, 2, 3, 1))
    chain = []
    last = programs.Tensor(6, (0, 1))
    for i in range(calls):
        weight, out = programs.Tensor(6, dim_orders[i % 5]), programs.Tensor((6, 5, 15, 4)[i % 4], dim_orders[i % 5])
        chain.append(programs.Call(f"aten::operator_{i % _OPERATORS}.out", (last, weight, 1, None, out, out)))
        last = out
    return programs.build({"forward": [chain]})


def _run(path: str, output: str) -> code_generator.Cost:
    """Runs `codegen select` for a program."""
    arguments = ["select", f"--model={path}", "--model_name=//:model", f"--output={output}"]
    return code_generator.run([code_generator.CODEGEN.value, *arguments])


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
            costs = [_run(path, output) for _ in range(_RUNS.value)]
            seconds = [cost.seconds for cost in costs]
            print(
                f"{calls:>8}{os.path.getsize(path) / _MIB:>12.1f}{statistics.median(seconds):>16.3f}"
                f"{min(seconds):>8.3f}{max(seconds):>8.3f}{max(cost.memory for cost in costs) / _MIB:>14.1f}"
            )


if __name__ == "__main__":
    app.run(main)
