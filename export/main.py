"""Exports a PyTorch model to an ExecuTorch program, with sample inputs and eager outputs for tests of the program.

The model is a Python file with an entry point; README.md beside this file has the contract. Success prints nothing. Bad
input prints one error and exits with status 1. `@<file>` reads flags from a file, one a line.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from absl import app, flags, logging

from bazel_worker import protocol
from diagnostics.errors import Finding
from export.process import command, phases, worker
from export.process.preloaded import Preloaded

_PROGRAM = flags.DEFINE_string("program", None, "Where to write the program (.pte).")
_SAMPLES = flags.DEFINE_string("samples", None, "Where to write sample inputs and eager outputs (.ptd).")
_WEIGHTS = flags.DEFINE_string(
    "weights", None, "Where to write the constants (.ptd). Without this flag, the program has its constants."
)
_BACKENDS = flags.DEFINE_multi_string(
    "backend", [], "Name of a recipe that lowers to a backend. May be given several times: the first takes first."
)
_QUANTIZE = flags.DEFINE_string("quantize", "", "Name of a recipe that quantizes the model before.")
_REPORT = flags.DEFINE_string("report", None, "Where to write what went to which backend, and why, as text.")
_REPORT_JSON = flags.DEFINE_string("report_json", None, "The same as JSON.")
_GRAPH_PASSES = flags.DEFINE_multi_string(
    "graph_passes",
    ["default"],
    "Name of a pass, or of a group of passes, that prepares the graphs for kernels: README.md has them. May be given"
    " several times; empty for none.",
)
_STRICT_PASSES = flags.DEFINE_bool(
    "strict_passes",
    False,
    "End the export where a graph pass raises or makes the program wrong; by default, there is a warning.",
)
_ALLOC_GRAPH_INPUT = flags.DEFINE_bool(
    "alloc_graph_input", True, "Plan memory for inputs; otherwise, a program reads an input where the caller has it."
)
_CHECK_PROGRAM = flags.DEFINE_bool(
    "check_program",
    True,
    "Run the program on the samples and on drawn inputs before it is written, and end the export if it is wrong.",
)
_PASSES = flags.DEFINE_string(
    "passes_report", None, "Where to write what the graph passes did, and what was checked, as text."
)
_PASSES_JSON = flags.DEFINE_string("passes_report_json", None, "The same as JSON.")
_ORIGINS = flags.DEFINE_string(
    "origins", None, "Where to write which line of Python each instruction comes from (.json)."
)
_ETRECORD = flags.DEFINE_string(
    "etrecord", None, "Where to write an ETRecord, with which ExecuTorch's Inspector reads profiles. Needs pandas."
)
_EAGER_VALUES = flags.DEFINE_string(
    "eager_values", None, "Where to write PyTorch's values of the nodes behind the instructions (.ptd)."
)
_EAGER_NODES = flags.DEFINE_string(
    "eager_nodes", None, "Where to write the nodes of these values, and the passes that changed instructions (.json)."
)
_TIMES = flags.DEFINE_string("times", None, "Where to write how many seconds each phase of the export took, as text.")
_OUTPUT_FOLDER = flags.DEFINE_string("output_folder", "", "Where the paths of all these files begin.")

# The module of an export. Its import, which takes seconds, imports PyTorch.
_EXPORTER = "export.exporter"

# Modules that each model class of transformers imports, which takes 1.4 seconds. A worker imports them itself when the
# files of a model first have the package's name. Their import registers nothing with PyTorch, and starts no thread.
MODULES_OF_TRANSFORMERS = ("transformers.models.auto.configuration_auto", "scipy.optimize")


def _export(folder: Path, model: Path, entry_point: str, import_paths: Sequence[Path]) -> Sequence[Finding]:
    """Exports a model file. Returns the warnings.

    Args:
        folder: the folder that the paths of outputs are relative to.
        model: the model file.
        entry_point: the name of the function in the file that returns the model.
        import_paths: folders of the user's own modules.
    """
    from export import exporter
    from export.graph_passes import report as passes_report
    from export.report import delegation

    done = exporter.export(
        model,
        entry_point,
        import_paths,
        backends=_BACKENDS.value,
        quantize=_QUANTIZE.value,
        graph_passes=[] if _GRAPH_PASSES.value == [""] else _GRAPH_PASSES.value,
        strict_passes=_STRICT_PASSES.value,
        alloc_graph_input=_ALLOC_GRAPH_INPUT.value,
        external_weights=bool(_WEIGHTS.value),
        with_check=_CHECK_PROGRAM.value,
        with_etrecord=bool(_ETRECORD.value),
        with_eager_values=bool(_EAGER_VALUES.value),
    )
    eager_values, eager_nodes = done.eager or (None, None)
    for output, content in (
        (_PROGRAM, done.pte),
        (_SAMPLES, done.ptd),
        (_WEIGHTS, done.weights),
        (_REPORT, delegation.as_text(done.delegations).encode()),
        (_REPORT_JSON, delegation.as_json(done.delegations).encode()),
        (_PASSES, passes_report.as_text(done.graph_passes, done.checked).encode()),
        (_PASSES_JSON, passes_report.as_json(done.graph_passes, done.checked).encode()),
        (_ORIGINS, done.origins),
        (_ETRECORD, done.etrecord),
        (_EAGER_VALUES, eager_values),
        (_EAGER_NODES, eager_nodes),
        (_TIMES, phases.as_text().encode()),
    ):
        if output.value and content:
            (folder / output.value).write_bytes(content)
    return done.warnings


def main(argv: Sequence[str]) -> int:
    # The model file may change the working directory.
    return command.run(argv, _EXPORTER, functools.partial(_export, Path(_OUTPUT_FOLDER.value).absolute()))


def _load_for_transformers() -> None:
    """Imports modules of models of transformers, if installed."""
    for name in MODULES_OF_TRANSFORMERS:
        # Unlike an import, this leaves no trace of a package that is not installed.
        if PathFinder.find_spec(name.partition(".")[0]) is not None:
            # Other versions of the package may lack the module. The import by a model reports all other failures.
            with contextlib.suppress(Exception):
                importlib.import_module(name)


class _Tool:
    """The tool of a worker. Imports the exporter, and exports in processes that are forked from this one."""

    def __init__(self) -> None:
        # The command line and the environment of a fresh process. PyTorch's import changes the environment.
        self._alone = [sys.executable, *sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]]
        self._environment = dict(os.environ)
        sys.dont_write_bytecode = True
        logging.use_absl_handler()  # As in app.run. Some imported modules look for log handlers.
        self._preloaded = Preloaded()
        self._preloaded.load(lambda: importlib.import_module(_EXPORTER))
        self._has_transformers = False

    def prepare(self, files: Iterable[Path]) -> None:
        """Imports modules of models of transformers, if a file has the name of the package."""
        if not self._has_transformers and any(file.suffix == ".py" and _has_transformers(file) for file in files):
            self._preloaded.load(_load_for_transformers)
            self._has_transformers = True

    def run(self, arguments: Sequence[str]) -> int:
        """Exports. A model for which the imports would differ is exported in a fresh process."""
        sys.argv[1:] = arguments

        def export(argv: Sequence[str]) -> int:
            if not command.may_use(self._preloaded):
                environment = self._environment | {"TMPDIR": os.environ["TMPDIR"]}
                os.execve(self._alone[0], [*self._alone, *arguments], environment)
            return main(argv)

        app.run(export)
        return 0


def _has_transformers(file: Path) -> bool:
    with contextlib.suppress(OSError):
        return b"transformers" in file.read_bytes()
    return False


if __name__ == "__main__":
    if protocol.FLAG in sys.argv:
        worker.serve(
            _Tool,
            flags=lambda folder: [f"--{_OUTPUT_FOLDER.name}={folder}"],
            outputs=[f"--{flag.name}=" for flag in (_PROGRAM, _ETRECORD, _EAGER_VALUES)],
        )
    else:
        app.run(main, argv=[sys.argv[0], *protocol.expanded(sys.argv[1:])])
