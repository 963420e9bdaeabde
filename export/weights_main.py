"""Merges files with the constants of programs. Equal constants are in the new file once.

tools/bazel run //export:weights -- --weights $PWD/a.weights.ptd --weights $PWD/b.weights.ptd --output /tmp/both.ptd
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

_WEIGHTS = flags.DEFINE_multi_string("weights", None, "A file with the constants of a program (.ptd).", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the constants of all programs (.ptd).", required=True)


def main(argv: Sequence[str]) -> None:
    del argv
    logging.disable(logging.WARNING)  # The import of torchao warns of libraries for GPUs.
    from export.lower import weights

    Path(_OUTPUT.value).write_bytes(weights.merge([Path(name).read_bytes() for name in _WEIGHTS.value]))


if __name__ == "__main__":
    app.run(main)
