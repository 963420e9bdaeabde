"""Converts an ExecuTorch BUCK file to Bazel targets. Prints notes about lost parts to stderr.

    tools/bazel run //tools/from_buck -- path/to/TARGETS > BUILD.bazel

The file is a BUCK or TARGETS file, or a .bzl file with define_common_targets(). The command evaluates loops, conditions
and functions, also functions of other files that it finds. Comments are lost.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from absl import app, flags

from diagnostics.errors import Location, shown
from tools.from_buck import build_file
from tools.from_buck.macros import Converter
from tools.from_buck.starlark import Evaluator, Function, StarlarkError
from tools.from_buck.values import Call

_MODULE = flags.DEFINE_string("module", "@rules_executorch", "What stands before the labels of this repository.")

# The function that .bzl files of ExecuTorch define and their BUCK files call.
_ENTRY = "define_common_targets"


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of a conversion: the text of a BUILD file, and notes about lost parts."""

    text: str
    notes: tuple[str, ...]


def convert(path: Path, shown_path: str, module: str) -> Conversion:
    """Converts a file.

    Raises:
        StarlarkError: the file is not Starlark.
        OSError: the file cannot be read.
    """
    converter = Converter(path, module)
    evaluator = Evaluator(converter.known(), converter.note)
    entry = evaluator.file(path, shown_path).get(_ENTRY)
    if path.suffix == ".bzl" and isinstance(entry, Function):
        evaluator.call(entry, Call(_ENTRY, Location(shown_path), (), {}, {}))
    text = build_file.text(converter.targets(), module)
    places = sorted(converter.notes, key=lambda note: (note[0].path, note[0].line, note[0].column))
    return Conversion(text, tuple(f"{where}: {note}" for where, note in places))


def main(argv: Sequence[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("one BUCK file is needed")
    path = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / argv[1]
    try:
        conversion = convert(path, argv[1], _MODULE.value)
    except StarlarkError as error:
        sys.exit(shown(str(error)))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(shown(f"{argv[1]}: error: {getattr(error, 'strerror', None) or error}"))
    print(conversion.text, end="")
    if conversion.notes:
        print("\n".join(["Not carried over:", *map(shown, conversion.notes)]), file=sys.stderr)


if __name__ == "__main__":
    app.run(main)
