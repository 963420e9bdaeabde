"""Tests all operators of the kernel libraries against PyTorch and writes docs/kernels.md.

    tools/bazel run //kernels/testing/sweep -- --operators=aten::add.out,aten::mm.out --seed=2

With --operators, only prints the findings. A sweep that was stopped continues: the findings of each operator are kept
in .sweep until the kernels or the sweep change.
"""

import faulthandler
import os
import pathlib
import sys
import time
import warnings
from collections.abc import Sequence

from absl import app, flags

from kernels.testing import op_call
from kernels.testing.sweep import page
from kernels.testing.sweep.findings import Findings
from kernels.testing.sweep.operators import read_operators
from kernels.testing.sweep.results import Results
from kernels.testing.sweep.sweep import Extent, Sweep

_YAMLS = flags.DEFINE_spaceseplist("yamls", None, "The operators.", required=True)
_OPERATORS = flags.DEFINE_list("operators", [], "Only these.")
_SEED = flags.DEFINE_integer("seed", 0, "Of the samples' values and of the variations.")
_JOBS = flags.DEFINE_integer("jobs", os.cpu_count() or 1, "Processes at a time.")
_DTYPES = flags.DEFINE_integer("dtypes", 16, "At most so many dtypes of an operator, chosen at random.")
_CALLS = flags.DEFINE_integer("calls", 40, "At most so many different calls of an operator for each dtype.")
_VARIATIONS = flags.DEFINE_integer("variations", 400, "So many variations of an operator's calls.")
_SHOW = flags.DEFINE_integer("show", 20, "So many failures of an operator.")
_PAGE = flags.DEFINE_string("page", "docs/kernels.md", "Where to write, below the workspace.")


def main(argv: Sequence[str]) -> int:
    del argv
    warnings.simplefilter("ignore")
    faulthandler.disable()  # crashes of child processes are reported with the call
    operators = read_operators(_YAMLS.value)
    chosen = _OPERATORS.value or operators
    extent = Extent(_SEED.value, _DTYPES.value, _CALLS.value, _VARIATIONS.value)
    workspace = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    sources = pathlib.Path(__file__).parents[1].rglob("*.py")
    kept = Results(workspace / ".sweep", [op_call.library_path(), *sources], extent)
    found = {name: findings for name in chosen if (findings := kept.find(name)) is not None}
    missing = [name for name in chosen if name not in found]
    for number, (name, findings) in enumerate(found.items(), 1):
        _show(f"[{number}/{len(chosen)}, from before]", name, findings)
    results = Sweep(operators, extent).run(missing, _JOBS.value) if missing else ()
    start = time.monotonic()
    for number, (name, findings) in enumerate(results, 1):
        kept.keep(name, findings)
        found[name] = findings
        left = (time.monotonic() - start) / number * (len(missing) - number)
        _show(f"[{len(found)}/{len(chosen)}, {left:.0f} s left]", name, findings)
    failed = sorted(name for name, findings in found.items() if findings.failures)
    sys.stdout.write(f"{len(failed)} operators failed: {' '.join(failed)}\n")
    if not _OPERATORS.value:
        (workspace / _PAGE.value).write_text(page.render(found, extent))
    return 1 if failed else 0


def _show(progress: str, name: str, findings: Findings) -> None:
    excused = sum(findings.departures.values())
    said = f"{findings.equal} equal, {excused} excused, {len(findings.failures)} failed"
    sys.stdout.write(f"{progress} {name}: {said}\n")
    sys.stdout.writelines(f"    {failure}\n" for failure in findings.failures[: _SHOW.value])
    sys.stdout.flush()


if __name__ == "__main__":
    app.run(main)
