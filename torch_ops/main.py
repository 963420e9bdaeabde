"""Tests a PyTorch operator on sample inputs: all of torch.library.opcheck, and further checks on request.

The samples come from a Python file with an entry point; README.md beside this file has the contract. Prints one line
for each check, and one error for each mistake. Exits with status 1 if there are mistakes.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from absl import app, flags

from diagnostics.errors import Finding, InputError, Location
from torch_ops.process_end import how_it_ended

if TYPE_CHECKING:
    from torch_ops.checks import Result

_OP = flags.DEFINE_string("op", None, "The operator: namespace::name, or namespace::name.overload.", required=True)
_SAMPLES = flags.DEFINE_string("samples", None, "Python file that has the entry point.", required=True)
_ENTRY_POINT = flags.DEFINE_string("entry_point", "get_samples", "Function in the file that returns the samples.")
_IMPORT_PATHS = flags.DEFINE_multi_string(
    "import_path", [], "Folder in which the sample file's imports are looked up first. May be given several times."
)
_GRADCHECK = flags.DEFINE_bool("gradcheck", False, "Check the autograd formula by numerical differentiation.")
_VMAP = flags.DEFINE_bool("vmap", False, "Check torch.vmap against a loop.")
_COMPILE = flags.DEFINE_bool("compile", False, "Check torch.compile(fullgraph=True) against eager.")
_EXPORT = flags.DEFINE_bool("export", False, "Check torch.export against eager.")
_BACKEND = flags.DEFINE_string("backend", "aot_eager", "Backend of torch.compile.")
_VERBOSE = flags.DEFINE_bool("verbose", False, "Show PyTorch's warnings.")


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    # The checks run in a process of their own, since a kernel may end the process.
    done, tell = os.pipe()
    if child := os.fork():
        os.close(tell)
        return _wait(child, done)
    faulthandler.disable()  # The parent reports a crash.
    status = _check()
    os.write(tell, b"done")
    return status


def _wait(child: int, done: int) -> int:
    """Waits for the process of the checks. Prints an error if the process ended too early. Returns the exit status."""
    finished = os.read(done, 4)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if finished and status >= 0:
        return status
    from torch_ops import checks  # Imports PyTorch, which takes seconds.

    finding = Finding(
        Location(_SAMPLES.value),
        f"the process that calls {_OP.value} {how_it_ended(status)}, in the check after the last one above",
        "the operator's kernel writes beyond its tensors, or calls abort() or exit(); or the sample file does.",
        "make the calls work in a Python program that is run by a debugger: gdb --args python3 program.py.",
        id="operator-ends-process",
    )
    _report([checks.Result("process", finding)])
    return 1


def _report(results: Sequence[Result]) -> None:
    from torch_ops import report  # Imports PyTorch, which takes seconds.

    print(report.summary(_OP.value, results), flush=True)
    if xml := os.environ.get("XML_OUTPUT_FILE"):
        Path(xml).write_text(report.xml(_OP.value, results))


def _check() -> int:
    """Runs the checks. Returns the exit status."""
    sys.dont_write_bytecode = True  # A test must not write to the operator's folder.
    sys.path[:0] = [os.path.abspath(path) for path in _IMPORT_PATHS.value]
    if "TEST_TMPDIR" in os.environ:
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(os.environ["TEST_TMPDIR"], "inductor"))
    if not _VERBOSE.value:
        warnings.simplefilter("ignore")
    # The import of PyTorch takes seconds, which --help avoids.
    import torch

    from export.user.source import Source
    from torch_ops import checks, operators, report, sample_file

    torch.set_num_threads(1)
    source = Source(
        Path(_SAMPLES.value), tuple(Path(path) for path in _IMPORT_PATHS.value), kind="sample", rule="torch_op_test"
    )
    options = checks.Options(
        gradcheck=_GRADCHECK.value,
        vmap=_VMAP.value,
        compile=_COMPILE.value,
        export=_EXPORT.value,
        backend=_BACKEND.value,
    )
    results = []
    try:
        samples = sample_file.load(source, _ENTRY_POINT.value)
        operator = operators.find(_OP.value, samples.at)
        print(f"{operator._schema}: {len(samples.inputs)} samples", flush=True)
        for result in checks.run(operator, samples, options):
            print(report.line(result), flush=True)
            results.append(result)
        print()
    except InputError as error:
        results.append(checks.Result("samples", error.findings[0]))
    _report(results)
    return int(any(result.finding for result in results))


if __name__ == "__main__":
    app.run(main)
