"""Writes operators.bzl of all kernel libraries.

tools/bazel run //kernels:write_operators
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app

from kernels import operator_lists


def _main(_: Sequence[str]) -> None:
    root = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    for library in operator_lists.LIBRARIES:
        try:
            text = operator_lists.updated(root, library)
        except ValueError as error:
            sys.exit(f"{library}/{error}")
        (root / library / operator_lists.LIST).write_text(text)


if __name__ == "__main__":
    app.run(_main)
