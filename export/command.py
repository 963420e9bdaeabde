"""What the commands of this tool share: their flags, and how they fail."""

from __future__ import annotations

import importlib
import logging
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from absl import app, flags

from diagnostics.errors import InputError
from export.quiet import Captured

_MODEL = flags.DEFINE_string("model", None, "Python file that has the entry point.", required=True)
_ENTRY_POINT = flags.DEFINE_string("entry_point", "get_model", "Function in the file that returns the model.")
_IMPORT_PATHS = flags.DEFINE_multi_string(
    "import_path", [], "Folder in which the model file's imports are looked up first. May be given several times."
)
_LABEL = flags.DEFINE_string("label", "", "What to call this export in errors, e.g. the target's label.")
_VERBOSE = flags.DEFINE_bool("verbose", False, "Show what PyTorch, ExecuTorch and the model print, warnings included.")
_TRACEBACK = flags.DEFINE_bool("traceback", False, "Show the whole Python traceback of a failure.")

# Exports the model file with an entry point, whose imports lie in some folders, and writes what comes out.
Export = Callable[[Path, str, Sequence[Path]], None]


def run(argv: Sequence[str], load: Callable[[], Export]) -> int:
    """Runs a command.

    Args:
        argv: what is left of the command line.
        load: imports what exports. PyTorch takes seconds to import, so not for --help.
    Returns:
        The exit status.
    """
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    sys.dont_write_bytecode = True  # The model's folder is not ours to write to.
    sys.path[:0] = _IMPORT_PATHS.value
    if not _VERBOSE.value:
        warnings.simplefilter("ignore")
    # What PyTorch prints while it is imported is not about the model.
    with Captured() as imports:
        export = load()
    if not _VERBOSE.value:
        # PyTorch's warnings are also logged; the model's own loggers are left alone.
        importlib.import_module("torch._logging").set_logs(all=logging.ERROR)
    captured = Captured()
    try:
        with captured:
            export(Path(_MODEL.value), _ENTRY_POINT.value, [Path(path) for path in _IMPORT_PATHS.value])
    except InputError as error:
        print(f"{_LABEL.value}: cannot export\n{error}" if _LABEL.value else error, file=sys.stderr)
        if _TRACEBACK.value:
            traceback.print_exception(error)
        if not _VERBOSE.value and captured.tail():
            print(f"\nPrinted during the export:\n{captured.tail()}", file=sys.stderr)
        return 1
    finally:
        if _VERBOSE.value:
            sys.stderr.write(imports.text() + captured.text())
    return 0
