"""Measures the cost of a call of PyTorch's operators in a program, and writes docs/benchmarks.md.

tools/bazel run //tools/bench:aten_bridge_bench
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from absl import app

from tools.bench import report

_BRIDGE = Path(__file__).parent / "aten_bridge"


def section(table: str) -> str:
    """Returns the section of the page with a table that the binary printed."""
    return "\n\n".join(
        [
            "## ATen mode",
            "The table compares the time of an operator's call in a program in ATen mode with the time of the same call"
            " in PyTorch. Both use PyTorch's kernel. The tensors have eight elements, so the kernel takes little of the"
            f" time ({report.processor()}).",
            "    tools/bazel run //tools/bench:aten_bridge_bench",
            table,
        ]
    )


def main(argv: Sequence[str]) -> None:
    del argv
    printed = subprocess.run([_BRIDGE], check=True, stdout=subprocess.PIPE, text=True).stdout
    report.publish("aten_mode", section(printed.strip()))


if __name__ == "__main__":
    app.run(main)
