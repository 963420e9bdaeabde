"""Writes docs/operators.md: what a program calls for each operator.

tools/bazel run //tools/operators
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from tools.operators import calls, page, ways

_KERNELS = flags.DEFINE_spaceseplist("kernels", None, "The YAMLs of the operators with kernels.", required=True)


def _main(_: Sequence[str]) -> None:
    have = ways.kernels(Path(path).read_text() for path in _KERNELS.value)
    found = {name: ways.way(name, call, have) for name, call in ways.wanted(calls.calls()).items()}
    (Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / page.PAGE).write_text(page.page(found))


if __name__ == "__main__":
    app.run(_main)
