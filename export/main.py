"""Exports a PyTorch model to an ExecuTorch program, with sample inputs and eager outputs to test it against.

The model is a Python file with an entry point; README.md beside this file has the contract. Success prints nothing; bad
input prints one error and exits with status 1.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from export.errors import ExportError
from export.quiet import Captured

_MODEL = flags.DEFINE_string("model", None, "Python file that has the entry point.", required=True)
_ENTRY_POINT = flags.DEFINE_string("entry_point", "get_model", "Function in the file that returns the model.")
_PROGRAM = flags.DEFINE_string("program", None, "Where to write the program (.pte).", required=True)
_SAMPLES = flags.DEFINE_string("samples", None, "Where to write sample inputs and eager outputs (.ptd).")
_IMPORT_PATHS = flags.DEFINE_multi_string(
    "import_path", [], "Folder in which the model file's imports are looked up first. May be given several times."
)
_LABEL = flags.DEFINE_string("label", "", "What to call this export in errors, e.g. the target's label.")
_VERBOSE = flags.DEFINE_bool("verbose", False, "Show what PyTorch, ExecuTorch and the model print, warnings included.")
_TRACEBACK = flags.DEFINE_bool("traceback", False, "Show the whole Python traceback of a failure.")


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    sys.dont_write_bytecode = True  # The model's folder is not ours to write to.
    sys.path[:0] = _IMPORT_PATHS.value
    if not _VERBOSE.value:
        warnings.simplefilter("ignore")
    # PyTorch takes seconds to import, so not for --help; and what it says meanwhile is not about the model.
    with Captured() as imports:
        from export.exporter import export
    captured = Captured()
    try:
        with captured:
            pte, ptd = export(Path(_MODEL.value), _ENTRY_POINT.value, [Path(path) for path in _IMPORT_PATHS.value])
    except ExportError as error:
        print(f"{_LABEL.value}: cannot export\n{error}" if _LABEL.value else error, file=sys.stderr)
        if _TRACEBACK.value:
            import traceback

            traceback.print_exception(error)
        if not _VERBOSE.value and captured.tail():
            print(f"\nPrinted during the export:\n{captured.tail()}", file=sys.stderr)
        return 1
    finally:
        if _VERBOSE.value:
            sys.stderr.write(imports.text() + captured.text())
    Path(_PROGRAM.value).write_bytes(pte)
    if _SAMPLES.value:
        Path(_SAMPLES.value).write_bytes(ptd)
    return 0


if __name__ == "__main__":
    app.run(main)
