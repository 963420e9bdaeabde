"""Goes through every operator of the kernel libraries and writes docs/kernels.md.

    tools/bazel run //kernels/testing/sweep -- --operators=aten::add.out,aten::mm.out --seed=2

With --operators, only shows what it finds.
"""

import os
import pathlib
import sys
import time
import warnings
from collections.abc import Sequence

from absl import app, flags

from kernels.testing.sweep import page
from kernels.testing.sweep.operators import read_operators
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
    operators = read_operators(_YAMLS.value)
    chosen = _OPERATORS.value or operators
    extent = Extent(_SEED.value, _DTYPES.value, _CALLS.value, _VARIATIONS.value)
    sweep = Sweep(operators, extent)
    results = {}
    start = time.monotonic()
    for name, findings in sweep.run(chosen, _JOBS.value):
        results[name] = findings
        left = (time.monotonic() - start) / len(results) * (len(chosen) - len(results))
        excused = sum(findings.departures.values())
        said = f"{findings.equal} equal, {excused} excused, {len(findings.failures)} failed"
        sys.stdout.write(f"[{len(results)}/{len(chosen)}, {left:.0f} s left] {name}: {said}\n")
        sys.stdout.writelines(f"    {failure}\n" for failure in findings.failures[: _SHOW.value])
        sys.stdout.flush()
    failed = sorted(name for name, findings in results.items() if findings.failures)
    sys.stdout.write(f"{len(failed)} operators failed: {' '.join(failed)}\n")
    if not _OPERATORS.value:
        workspace = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
        (workspace / _PAGE.value).write_text(page.render(results, extent))
    return 1 if failed else 0


if __name__ == "__main__":
    app.run(main)
