"""Merges files with the constants of programs. Equal constants are in the new file once, those of bases not at all.

tools/bazel run //export:weights -- --weights $PWD/a.weights.ptd --weights $PWD/b.weights.ptd --output /tmp/both.ptd
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from diagnostics.errors import InputError

_WEIGHTS = flags.DEFINE_multi_string("weights", None, "A file with the constants of a program (.ptd).", required=True)
_BASES = flags.DEFINE_multi_string("base", [], "A file (.ptd) whose constants the new file does not get.")
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the constants of all programs (.ptd).", required=True)


def main(argv: Sequence[str]) -> None:
    del argv
    logging.disable(logging.WARNING)  # The import of torchao warns of libraries for GPUs.
    from export.lower import weights

    try:
        merged = weights.merge([Path(name) for name in _WEIGHTS.value], [Path(name) for name in _BASES.value])
    except InputError as error:
        raise SystemExit(str(error)) from error
    Path(_OUTPUT.value).write_bytes(merged)


if __name__ == "__main__":
    app.run(main)
