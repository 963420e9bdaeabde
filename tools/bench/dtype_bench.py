"""Prints how many bytes a dtype-selective build saves in the binaries of the example models.

    tools/bazel run //tools/bench:dtype_bench

Bytes are those that a binary loads: code, constants and data, without symbols and debug information. The kernels' are
what a runner without any loads less.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from absl import app

from tools.bench import elf

_EXAMPLES = ("mobilenet_v2", "tiny_llama")


def main(argv: Sequence[str]) -> None:
    del argv
    directory = Path(__file__).parent
    without_kernels = elf.loaded_bytes(directory / "no_kernels")
    print(f"{'model':<14} {'':<8} {'all dtypes':>10} {'selected':>10} {'saved':>8}")
    for example in _EXAMPLES:
        before = elf.loaded_bytes(directory / f"{example}_all_dtypes")
        after = elf.loaded_bytes(directory / f"{example}_selected_dtypes")
        for what, base in (("binary", 0), ("kernels", without_kernels)):
            saved = f"{(before - after) / (before - base):.0%}"
            print(f"{example:<14} {what:<8} {before - base:>10,} {after - base:>10,} {saved:>8}")


if __name__ == "__main__":
    app.run(main)
