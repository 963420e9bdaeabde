"""Exports a PyTorch model to an ExecuTorch program, with sample inputs and eager outputs to test it against.

The model is a Python file with an entry point; README.md beside this file has the contract. Success prints nothing; bad
input prints one error and exits with status 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from export import command

_PROGRAM = flags.DEFINE_string("program", None, "Where to write the program (.pte).", required=True)
_SAMPLES = flags.DEFINE_string("samples", None, "Where to write sample inputs and eager outputs (.ptd).")


def _load() -> command.Export:
    from export import exporter

    # The model file may change the working directory.
    program = Path(_PROGRAM.value).absolute()
    samples = Path(_SAMPLES.value).absolute() if _SAMPLES.value else None

    def export(model: Path, entry_point: str, import_paths: Sequence[Path]) -> None:
        pte, ptd = exporter.export(model, entry_point, import_paths)
        program.write_bytes(pte)
        if samples:
            samples.write_bytes(ptd)

    return export


def main(argv: Sequence[str]) -> int:
    return command.run(argv, _load)


if __name__ == "__main__":
    app.run(main)
