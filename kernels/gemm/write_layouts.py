"""Writes the constants of layouts.yaml for kernels, or for graph passes.

write_layouts --layouts=layouts.yaml --output=layouts.h
write_layouts --layouts=layouts.yaml --output=layouts.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from kernels.gemm import layout_files

_LAYOUTS = flags.DEFINE_string("layouts", None, "The file that describes layouts.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Header or module to write.", required=True)

_WRITERS = {".h": layout_files.header, ".py": layout_files.module}


def _main(arguments: Sequence[str]) -> None:
    output = Path(_OUTPUT.value)
    if len(arguments) > 1 or output.suffix not in _WRITERS:
        raise app.UsageError("--output must be a header (.h) or a module (.py)")
    output.write_text(_WRITERS[output.suffix](layout_files.read(Path(_LAYOUTS.value).read_text())))


if __name__ == "__main__":
    app.run(_main)
