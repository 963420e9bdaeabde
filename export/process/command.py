"""The common part of //export and //export:aoti: flags, and the report of failures."""

from __future__ import annotations

import functools
import gc
import importlib
import logging
import os
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from absl import app, flags

from diagnostics.errors import Finding, InputError, Location
from export.process import own_process, phases, system_limits
from export.process.preloaded import Preloaded
from export.user.messages import SHOW_MORE

_MODEL = flags.DEFINE_string("model", None, "Python file that has the entry point.", required=True)
_ENTRY_POINT = flags.DEFINE_string("entry_point", "get_model", "Function in the file that returns the model.")
_IMPORT_PATHS = flags.DEFINE_multi_string(
    "import_path", [], "Folder in which the model file's imports are looked up first. May be given several times."
)
_LABEL = flags.DEFINE_string("label", "", "What to call this export in errors, e.g. the target's label.")
_VERBOSE = flags.DEFINE_bool(
    "verbose",
    False,
    "Show what PyTorch, ExecuTorch and the model print, warnings included, and the phases of the export.",
)
_TRACEBACK = flags.DEFINE_bool("traceback", False, "Show the whole Python traceback of a failure.")

_MAX_MESSAGE = 600
# The threshold of the garbage collector's first generation. With Python's default, 700, the collector visits the nodes
# of graphs, which stay alive, again and again: 7% of the time of an export of Swin-T.
_OBJECTS_BEFORE_COLLECTION = 50_000
# The first line of the report of a failed export.
_FAILED = "failed\n"

# Exports a model file and writes the outputs. The arguments are the model file, the entry point and the import paths.
# The result is the warnings.
Export = Callable[[Path, str, Sequence[Path]], Sequence[Finding]]


def run(argv: Sequence[str], exporter: str, export: Export) -> int:
    """Runs a command.

    Args:
        argv: the command line without flags.
        exporter: the module that imports PyTorch, which takes seconds. --help does not import the module.
        export: exports a model file after the import.
    Returns:
        The exit status.
    """
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    with tempfile.TemporaryFile() as printed:
        outcome = own_process.run(functools.partial(_export, exporter, export, printed), printed)
        report = _FAILED + str(_ended(outcome)) if outcome.report is None else outcome.report
        error = report.removeprefix(_FAILED) if report.startswith(_FAILED) else ""
        if error:
            print(f"{_LABEL.value}: cannot export\n{error}" if _LABEL.value else error, file=sys.stderr)
        elif report:
            print(f"{_LABEL.value}: exported, with warnings\n{report}" if _LABEL.value else report, file=sys.stderr)
        if _VERBOSE.value:
            printed.seek(0)
            sys.stderr.flush()
            shutil.copyfileobj(printed, sys.stderr.buffer)
        elif error and (tail := own_process.tail(printed)):
            print(f"\nPrinted during the export:\n{tail}", file=sys.stderr)
    return 1 if error else 0


def may_use(preloaded: Preloaded) -> bool:
    """Returns whether an export with the modules that a worker imported before has the same result."""
    # --verbose also shows the output of PyTorch's import, so the import must happen in this export.
    return not _VERBOSE.value and not preloaded.would_differ(_import_folders())


def _import_folders() -> list[str]:
    return [os.path.abspath(path) for path in _IMPORT_PATHS.value]


def _export(exporter: str, export: Export, printed: IO[bytes]) -> str:
    """Runs the export. Returns the text to show: warnings, or `_FAILED` and the error."""
    sys.dont_write_bytecode = True  # An action must not write to the model's folder.
    sys.path[:0] = _import_folders()
    phases.begin(is_shown=_VERBOSE.value)
    try:
        # PyTorch's modules stay alive. The collector skips them while they load and during the export.
        gc.disable()
        with phases.phase("import"):
            importlib.import_module(exporter)
        gc.freeze()
        gc.enable()
        gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
        if not _VERBOSE.value:
            # The output of PyTorch's import does not concern the model.
            printed.seek(0)
            printed.truncate()
            warnings.simplefilter("ignore")
            # PyTorch also logs its warnings. The model's own loggers keep their level.
            importlib.import_module("torch._logging").set_logs(all=logging.ERROR)
        warned = export(Path(_MODEL.value), _ENTRY_POINT.value, [Path(path) for path in _IMPORT_PATHS.value])
    except BaseException as error:
        shown = str(
            system_limits.finding(Location(_MODEL.value), error)
            or (error if isinstance(error, InputError) else _unexpected(error))
        )
        return _FAILED + "\n".join([shown, *(traceback.format_exception(error) if _TRACEBACK.value else [])])
    return "\n".join(map(str, warned))


def _unexpected(error: BaseException) -> Finding:
    """Returns the finding for an exception that no part of the tool handles."""
    last = traceback.format_exception_only(error)[-1].strip()
    return Finding(
        Location(_MODEL.value),
        f"the export raised {last[:_MAX_MESSAGE]}",
        "the model file returns an object, or makes a change in Python or PyTorch, that the tool does not expect.",
        f"{SHOW_MORE}.",
        id="user-code-raised",
    )


def _ended(outcome: own_process.Outcome) -> Finding:
    """Returns the finding for an export whose process ended too early."""
    if outcome.was_killed:
        return system_limits.killed(Location(_MODEL.value), "the process that exports the model", outcome.memory)
    model = os.path.abspath(_MODEL.value)
    line = next((line for path, line in outcome.frames if os.path.abspath(path) == model), 0)
    return Finding(
        Location(_MODEL.value, line, 1 if line else 0),
        f"the process that exports the model {outcome.how}, before the export was done",
        "the model file, or a library that it imports, calls os._exit() or crashes in native code.",
        f"check that `python {_MODEL.value}` and calls of its functions work without Bazel.",
        id="model-ends-process",
    )
