"""Measures the bytes that dtype_selective_build saves in the example models' binaries; writes docs/benchmarks.md.

    tools/bazel run //tools/bench:dtype_bench

The size of a binary is the number of its loaded bytes: code, constants and data, without symbols and debug information.
The size of the kernels is the difference to a runner without kernels.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

from absl import app

from tools.bench import elf, report

_EXAMPLES = {
    "mobilenet_v2": "MobileNetV2 (Float)",
    "tiny_llama": "tiny Llama (Float, with Long positions and Bool masks)",
}
_FOLDER = Path(__file__).parent


def section(rows: Sequence[Sequence[object]], compiler: str) -> str:
    """Returns the section of the page with the bytes of each model's binary."""
    return "\n\n".join(
        [
            "## Dtype selection",
            "The table has the loaded bytes of binaries with and without"
            f" [`dtype_selective_build`](dtype_selection.md) ({platform.machine()}, {compiler}, `-c opt`). The binaries"
            " are `executorch_binary` runners, which link the wheel's runtime as a shared library. The bytes of the"
            " kernels are the difference from a runner without kernels.",
            "    tools/bazel run //tools/bench:dtype_bench",
            report.table(("model", "", "all dtypes", "selected", "saved"), rows),
            "Most of the remaining bytes are argument checks and error messages, which do not depend on dtypes. The"
            " library compiles the files of the selected operators a second time.",
        ]
    )


def main(argv: Sequence[str]) -> None:
    del argv
    without_kernels = elf.loaded_bytes(_FOLDER / "no_kernels")
    rows = []
    for example, title in _EXAMPLES.items():
        before = elf.loaded_bytes(_FOLDER / f"{example}_all_dtypes")
        after = elf.loaded_bytes(_FOLDER / f"{example}_selected_dtypes")
        for what, base in (("binary", 0), ("kernels", without_kernels)):
            saved = f"{(before - after) / (before - base):.0%}"
            rows.append([title, what, f"{before - base:,}", f"{after - base:,}", saved])
    report.publish("dtypes", section(rows, elf.compiler(_FOLDER / "no_kernels")))


if __name__ == "__main__":
    app.run(main)
