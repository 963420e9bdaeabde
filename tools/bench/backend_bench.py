"""Compares the models of examples/xnnpack with XNNPACK, in floats and in 8 bits, with the portable kernels.

    tools/bazel run //tools/bench:backend_bench

The binaries take turns, and the fastest run of each counts. A binary's size is the number of its loaded bytes, minus
those of a runner without kernels, and without the backend's shared libraries. Writes the table in
examples/xnnpack/README.md.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from tools.bench import elf, report

_TURNS = flags.DEFINE_integer("turns", 3, "How often each binary has its turn.", lower_bound=1)
_RUNS = flags.DEFINE_integer("runs", 50, "How often a turn runs the samples.", lower_bound=1)

_ROOT = Path(__file__).parent.parent.parent
_EXAMPLE = _ROOT / "examples" / "xnnpack"
_VARIANTS = {"undelegated": "portable kernels", "": "XNNPACK", "int8": "XNNPACK, 8 bits"}
_TIMES = re.compile(r"times all (\d+): min ([\d.]+) ms")


def _milliseconds(binary: Path) -> float:
    """Returns the milliseconds of an inference in the fastest of several runs of all samples."""
    command = [str(binary), f"--iterations={_RUNS.value}", f"--threads={len(os.sched_getaffinity(0))}"]
    match = _TIMES.search(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    if not match:
        raise ValueError(f"{binary} prints no times")
    return float(match[2]) / int(match[1])


def _rows(model: str, without_kernels: int) -> list[list[object]]:
    names = {variant: "_".join(filter(None, [model, variant])) for variant in _VARIANTS}
    turns = [{variant: _milliseconds(_EXAMPLE / name) for variant, name in names.items()} for _ in range(_TURNS.value)]
    return [
        [
            f"`{model}`, {_VARIANTS[variant]}",
            f"{(elf.loaded_bytes(_EXAMPLE / name) - without_kernels) / 1e3:,.0f}",
            f"{(_EXAMPLE / f'{name}.pte').stat().st_size / 1e3:,.0f}",
            f"{min(turn[variant] for turn in turns):.3f}",
        ]
        for variant, name in names.items()
    ]


def main(argv: Sequence[str]) -> None:
    libraries = [Path(argument) for argument in argv[1:]]
    without_kernels = elf.loaded_bytes(_ROOT / "tools" / "bench" / "no_kernels")
    models = sorted(path.name.removesuffix("_int8") for path in _EXAMPLE.glob("*_int8"))
    rows = [row for model in models for row in _rows(model, without_kernels)]
    table = report.table(["model", "kernels, KB", "program, KB", "inference, ms"], rows)
    shared = " and ".join(f"{elf.loaded_bytes(path) / 1e3:,.0f} KB of {path.name}" for path in libraries)
    text = f"{table}\n\nBeside a binary with XNNPACK: {shared}."
    print(text)
    report.replace_section(
        Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "examples" / "xnnpack" / "README.md", "bench", text
    )


if __name__ == "__main__":
    app.run(main)
