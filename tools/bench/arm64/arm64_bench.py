"""Counts the instructions of models on emulated arm64 processors, with our kernels and with XNNPACK.

    tools/bazel run //tools/bench:arm64_bench     # ten minutes; the load of the machine has no effect on the counts

The runners are those of peers_bench. The instructions of one inference are the difference between a run with two
inferences and a run with one, so that the start of the program, the load of the model and the packing of its weights do
not count. Writes a section of docs/benchmarks.md.
"""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from absl import app, flags

from kernels.testing import arm64
from tools.bench import report
from tools.bench.arm64 import emulated

_MODELS = flags.DEFINE_list("models", None, "The names of the models in models.json.", required=True)

_HERE = Path(__file__).parent
_KERNELS = {"ours": "ours", "xnnpack": "XNNPACK"}

# XNNPACK has kernels for SVE and SME, and ours have not, so that the comparison is without these extensions.
_PROCESSORS = arm64.PROCESSORS | {"i8mm_bf16": arm64.PROCESSORS["i8mm_bf16"] + ",sve=off,sme=off"}


def _instructions_of_inference(runner: Path, processor: str) -> int:
    once, twice = (
        emulated.instructions(processor, [runner, "--threads=1", "--warmup=0", f"--iterations={count}"])
        for count in (1, 2)
    )
    return twice - once


def _section(titles: Mapping[str, str], counts: Mapping[tuple[str, str, str], int]) -> str:
    header = ["model"]
    for instruction_set in _PROCESSORS:
        header += [f"`{instruction_set}`: ours", "XNNPACK", "XNNPACK / ours"]
    rows: list[Sequence[str]] = []
    ratios: dict[str, list[float]] = {instruction_set: [] for instruction_set in _PROCESSORS}
    for name, title in titles.items():
        row = [title]
        for instruction_set in _PROCESSORS:
            ours, theirs = (counts[name, kernels, instruction_set] for kernels in _KERNELS)
            ratios[instruction_set].append(theirs / ours)
            row += [f"{ours / 1e6:,.1f}", f"{theirs / 1e6:,.1f}", f"{theirs / ours:.2f}"]
        rows.append(row)
    last = ["geometric mean"]
    for found in ratios.values():
        last += ["", "", f"{statistics.geometric_mean(found):.2f}"]
    rows.append(last)
    processors = ", ".join(f"`{processor}` for `{set_}`" for set_, processor in _PROCESSORS.items())
    return "\n\n".join(
        (
            "## Instructions on arm64",
            "Made by `tools/bazel run //tools/bench:arm64_bench`. No arm64 machine was at hand, so that this section"
            " has no times. The table has the millions of instructions of one inference on one thread, counted in"
            f" QEMU's user-mode emulator, whose processors are {processors}. The runners are those of the comparison"
            " with peers: *ours* runs the program of all graph passes; XNNPACK runs the program of its delegate in"
            " ExecuTorch's runtime. A count says nothing of caches, of the order of instructions, and of instructions"
            " that take longer than others.",
            report.table(header, rows),
        )
    )


def main(argv: list[str]) -> None:
    del argv
    rows = json.loads((_HERE.parent / "peers" / "models.json").read_text())["models"]
    titles = {name: rows[name]["title"] for name in _MODELS.value}
    counts: dict[tuple[str, str, str], int] = {}
    for name, instruction_set, kernels in itertools.product(titles, _PROCESSORS, _KERNELS):
        # A runner finds its program in the runfiles of this process.
        runner = _HERE.parent / "peers" / f"{kernels}_{name}"
        count = _instructions_of_inference(runner, _PROCESSORS[instruction_set])
        counts[name, kernels, instruction_set] = count
        print(f"{name}, {instruction_set}, {_KERNELS[kernels]}: {count:,}", flush=True)
    section = _section(titles, counts)
    report.publish("arm64", section)


if __name__ == "__main__":
    app.run(main)
