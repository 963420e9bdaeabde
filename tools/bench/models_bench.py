"""Compares the models of examples/models with PyTorch eager and the wheel's kernels; writes docs/benchmarks.md.

    tools/bazel run //tools/bench:models_bench

The binary of each model and PyTorch take turns, and the fastest turn of each counts. Then a runner with the wheel's
kernels runs the same program. The size of a binary is the number of its loaded bytes.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from absl import app, flags

from export.user import model_file
from tools.bench import elf, report

_MODELS = flags.DEFINE_string("models", "", "A regular expression: which models. Not all: no document is written.")
_TURNS = flags.DEFINE_integer("turns", 2, "How often the binary and PyTorch take turns.", lower_bound=1)
_RUNS = flags.DEFINE_integer("runs", 3, "How often a turn runs the samples.", lower_bound=1)

_ROOT = Path(__file__).parent.parent.parent
_BINARIES = Path(__file__).parent
_EXAMPLES = _ROOT / "examples" / "models"


@dataclass(frozen=True)
class _Turn:
    """The times of a runner's process.

    Attributes:
        load: the seconds to load the file and the method, as the runner prints them.
        run: the CPU time of a run of all samples.
    """

    load: float
    run: float


def _row(name: str, without_kernels: int) -> list[object]:
    """Returns the row of a model."""
    binary = _BINARIES / f"{name}_runner"
    program = _EXAMPLES / f"{name}.pte"
    wheel = [str(_BINARIES / "wheel"), f"--program={program}", f"--samples={program.with_suffix('.ptd')}"]
    (method,) = model_file.load(_EXAMPLES / f"{name}.py", "get_model", [_ROOT], rule="executorch_program").methods
    ours, eager = [], []
    for _ in range(_TURNS.value):
        ours.append(_turn([str(binary), "--threads=1"], _RUNS.value))
        eager.append(_eager_seconds(method))
    inference = 1e3 / len(method.samples)
    ours_ms = inference * min(turn.run for turn in ours)
    wheel_ms = inference * _turn(wheel, 1).run
    eager_ms = inference * min(eager)
    size = elf.loaded_bytes(binary)
    return [
        f"`{name}`",
        f"{size / 1e3:,.0f}",
        f"{(size - without_kernels) / 1e3:,.0f}",
        f"{program.stat().st_size / 1e6:,.1f}",
        f"{1e3 * min(turn.load for turn in ours):,.1f}",
        f"{ours_ms:,.1f}",
        f"{eager_ms:,.1f}",
        f"{wheel_ms:,.1f}",
        f"{ours_ms / eager_ms:.1f}",
        f"{wheel_ms / ours_ms:.1f}",
    ]


def _turn(command: Sequence[str], runs: int) -> _Turn:
    """Returns the times of a runner. The time of a run is the difference between processes with and without `runs`."""
    once, often = (_process(command, iterations) for iterations in (0, runs))
    return _Turn(min(once.load, often.load), (often.run - once.run) / runs)


def _process(command: Sequence[str], iterations: int) -> _Turn:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed = subprocess.run(
        [*command, f"--iterations={iterations}", "--warmup=0", "--print=0"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    load = re.search(r"^time load ([0-9.]+) ms", printed, re.MULTILINE)
    if load is None:
        raise ValueError(f"{command[0]} prints no times")
    return _Turn(float(load[1]) / 1e3, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _eager_seconds(method: model_file.Method) -> float:
    """Returns the CPU time of a run of all samples."""
    with torch.no_grad():
        for run in range(_RUNS.value + 1):
            if run == 1:  # The first run does not count.
                start = time.process_time()
            for sample in method.samples:
                method.module(*sample.args, **sample.kwargs)
    return (time.process_time() - start) / _RUNS.value


def _section(rows: Sequence[Sequence[object]], without_kernels: int, all_kernels: int) -> str:
    return "\n\n".join(
        [
            "## Whole models",
            "Made by `tools/bazel run //tools/bench:models_bench`. The programs are those of"
            " [examples/models](../examples/models); some of these models are reduced. A binary is an"
            " `executorch_binary` with the kernels of its model's operators, compiled for the model's dtypes"
            " (`dtype_selective_build`). Its size is the loaded kilobytes; a runner without kernels has"
            f" {without_kernels / 1e3:,.0f}, and all kernels of `kernels/portable` and `kernels/quantized` have"
            f" {all_kernels / 1e3:,.0f}. The load time is the time from a file in the page cache to an executable"
            " method. The time of a run is the CPU time of one inference on all its threads. PyTorch eager and the"
            " kernels of this repository use one thread; the wheel's kernels use any number of threads. The binary and"
            f" PyTorch run in turn; the lowest time of {_TURNS.value} turns with {_RUNS.value} runs each counts. The"
            " wheel's kernels run once, after these turns.",
            report.table(
                [
                    "model",
                    "binary, KB",
                    "its kernels, KB",
                    "program, MB",
                    "load, ms",
                    "run, ms",
                    "PyTorch eager, ms",
                    "the wheel's kernels, ms",
                    "run / eager",
                    "the wheel's / run",
                ],
                rows,
            ),
        ]
    )


def main(argv: Sequence[str]) -> None:
    del argv
    torch.set_num_threads(1)
    without_kernels = elf.loaded_bytes(_BINARIES / "no_kernels")
    names = sorted(path.name.removesuffix("_runner") for path in _BINARIES.glob("*_runner"))
    rows = []
    for name in names:
        if re.search(_MODELS.value, name):
            rows.append(_row(name, without_kernels))
            print("  ".join(str(cell) for cell in rows[-1]), flush=True)
    if len(rows) == len(names):
        all_kernels = elf.loaded_bytes(_BINARIES / "all_kernels") - without_kernels
        document = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "docs" / "benchmarks.md"
        report.replace_section(document, "models", _section(rows, without_kernels, all_kernels))


if __name__ == "__main__":
    app.run(main)
