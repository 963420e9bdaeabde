"""Puts the libraries of an op package for a device into one folder, with the commands that push and run a program."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from diagnostics.errors import InputError
from qnn.registration import bundle

_LABEL = flags.DEFINE_string("label", None, "The label of the bundle.", required=True)
_REGISTRATION = flags.DEFINE_string("registration", None, "The registration of the package.", required=True)
_LIBRARIES = flags.DEFINE_multi_string("library", None, "A folder with a library of the package.", required=True)
_HEXAGON_ARCH = flags.DEFINE_string("hexagon_arch", None, "The version of the DSP, e.g. v75.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Folder to write to.", required=True)


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    registration = json.loads(Path(_REGISTRATION.value).read_text())
    try:
        libraries = [Path(folder) for folder in _LIBRARIES.value]
        bundle.write(registration, libraries, _HEXAGON_ARCH.value, Path(_OUTPUT.value), _LABEL.value)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    app.run(main)
