"""Loads an operator library into PyTorch once, and lists the library's registrations and operators.

A failure of the load, or an abort of the process, becomes one error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from absl import app, flags

from codegen.artifacts import torch_manifest, torch_operators
from diagnostics.errors import InputError
from torch_ops import load_check

_LIBRARY = flags.DEFINE_string("library", None, "The shared library.", required=True)
_LABEL = flags.DEFINE_string("label", None, "Its label.", required=True)
_MODULE_NAME = flags.DEFINE_string("module_name", None, "The name of the Python module that loads it.", required=True)
_NM = flags.DEFINE_string("nm", None, "The program that lists symbols.", required=True)
_MANIFEST = flags.DEFINE_string("manifest", None, "Where to write what it registers, as .torch.json.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the operators, as JSON.", required=True)


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    try:
        loaded = load_check.check(_LIBRARY.value, _LABEL.value, _MODULE_NAME.value, _NM.value)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    torch_manifest.write(loaded.manifest, _MANIFEST.value)
    torch_operators.write(_LABEL.value, loaded.operators, _OUTPUT.value)
    return 0


if __name__ == "__main__":
    app.run(main)
