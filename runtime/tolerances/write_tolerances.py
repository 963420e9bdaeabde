"""Writes the table of tolerances.yaml for the runner, or for the export.

write_tolerances --tolerances=tolerances.yaml --output=tolerances.h
write_tolerances --tolerances=tolerances.yaml --output=table.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from runtime.tolerances import tolerance_files

_TOLERANCES = flags.DEFINE_string("tolerances", None, "The file with the tolerances.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Header or module to write.", required=True)

_WRITERS = {".h": tolerance_files.header, ".py": tolerance_files.module}


def _main(arguments: Sequence[str]) -> None:
    output = Path(_OUTPUT.value)
    if len(arguments) > 1 or output.suffix not in _WRITERS:
        raise app.UsageError("--output must be a header (.h) or a module (.py)")
    output.write_text(_WRITERS[output.suffix](tolerance_files.read(Path(_TOLERANCES.value).read_text())))


if __name__ == "__main__":
    app.run(_main)
