"""Measures the models of examples/models beside PyTorch eager, and writes docs/models.md.

    tools/bazel run //tools/bench:models_bench

The binary of each model and PyTorch take turns, at one thread, and the fastest turn of each counts. Bytes are those
that a binary loads, less those of a runner without kernels.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from absl import app, flags

from export import model_file
from tools.bench import elf, report

_MODELS = flags.DEFINE_string("models", "", "A regular expression: which models. Not all: no document is written.")
_TURNS = flags.DEFINE_integer("turns", 2, "How often the binary and PyTorch take turns.", lower_bound=1)
_RUNS = flags.DEFINE_integer("runs", 3, "How often a turn runs the samples.", lower_bound=1)

_ROOT = Path(__file__).parent.parent.parent
_BINARIES = Path(__file__).parent
_EXAMPLES = _ROOT / "examples" / "models"


def _row(name: str, without_kernels: int) -> list[object]:
    """The row of a model."""
    binary = _BINARIES / f"{name}_runner"
    (method,) = model_file.load(_EXAMPLES / f"{name}.py", "get_model", [_ROOT], rule="executorch_program")
    ours, eager = [], []
    for _ in range(_TURNS.value):
        ours.append(_binary_seconds(binary))
        eager.append(_eager_seconds(method))
    ours_ms, eager_ms = (1e3 * min(seconds) / len(method.samples) for seconds in (ours, eager))
    kernels = elf.loaded_bytes(binary) - without_kernels
    return [
        f"`{name}`",
        f"{kernels / 1e3:,.0f}",
        f"{(_EXAMPLES / f'{name}.pte').stat().st_size / 1e6:,.1f}",
        f"{ours_ms:,.1f}",
        f"{eager_ms:,.1f}",
        f"{ours_ms / eager_ms:.1f}",
    ]


def _binary_seconds(binary: Path) -> float:
    """The CPU time of a run of all samples: of a process with more runs than another, less that of the other."""
    once, often = (_process_seconds([str(binary), f"--iterations={1 + more}"]) for more in (0, _RUNS.value))
    return (often - once) / _RUNS.value


def _process_seconds(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _eager_seconds(method: model_file.Method) -> float:
    """The CPU time of a run of all samples."""
    with torch.no_grad():
        for run in range(_RUNS.value + 1):
            if run == 1:  # The first one does not count.
                start = time.process_time()
            for sample in method.samples:
                method.module(*sample.args, **sample.kwargs)
    return (time.process_time() - start) / _RUNS.value


def _section(rows: Sequence[Sequence[object]], all_kernels: int) -> str:
    return "\n\n".join(
        [
            "## Size and time",
            "The programs are those of the tests, so some models are cut down. The kernels are those of the model's"
            " operators, compiled for its dtypes (`dtype_selective_build`), in kilobytes that the binary loads; all"
            f" kernels of `kernels/portable` and `kernels/quantized` take {all_kernels / 1e3:,.0f}. The time is the"
            f" CPU's of one inference at one thread, the least of {_TURNS.value} turns of {_RUNS.value} runs, in turn"
            " with PyTorch eager.",
            "    tools/bazel run //tools/bench:models_bench",
            report.table(
                ["model", "kernels, KB", "program, MB", "time, ms", "PyTorch eager, ms", "ratio"],
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
        document = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "docs" / "models.md"
        report.replace_section(document, "bench", _section(rows, all_kernels))


if __name__ == "__main__":
    app.run(main)
