"""Writes facts about ExecuTorch's runtime as Python modules, when the code generator is built.

    write_facts prim_ops --lister=PROGRAM --output=prim_ops.py
    write_facts scalar_types --lister=PROGRAM --output=scalar_types.py
    write_facts program_fields --program_schema=FILE --bundled_program_schema=FILE --output=program_fields.py

A lister is a program that is linked with the runtime and prints one fact a line. A schema is the output of
`flatc --binary --schema` for an .fbs file.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from codegen.facts import modules

_LISTER = flags.DEFINE_string("lister", None, "Program that prints the facts.")
_PROGRAM_SCHEMA = flags.DEFINE_string("program_schema", None, "Binary schema of programs.")
_BUNDLED_PROGRAM_SCHEMA = flags.DEFINE_string("bundled_program_schema", None, "Binary schema of bundled programs.")
_OUTPUT = flags.DEFINE_string("output", None, "Module to write.", required=True)


def _value(flag: flags.FlagHolder[str | None]) -> str:
    """Returns the value of a flag that is required for the module."""
    if flag.value is None:
        raise app.UsageError(f"--{flag.name} is missing")
    return str(flag.value)


def _listed() -> list[str]:
    lines: str = subprocess.run([_value(_LISTER)], check=True, capture_output=True, text=True).stdout
    return lines.splitlines()


def _main(arguments: Sequence[str]) -> None:
    what = arguments[1] if len(arguments) == 2 else ""
    if what == "prim_ops":
        module = modules.prim_ops(_listed())
    elif what == "scalar_types":
        module = modules.scalar_types(_listed())
    elif what == "program_fields":
        module = modules.program_fields(
            Path(_value(_PROGRAM_SCHEMA)).read_bytes(), Path(_value(_BUNDLED_PROGRAM_SCHEMA)).read_bytes()
        )
    else:
        raise app.UsageError("one of prim_ops, scalar_types, program_fields")
    Path(_OUTPUT.value).write_text(module)


if __name__ == "__main__":
    app.run(_main)
