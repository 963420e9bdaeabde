"""Loads an operator library into PyTorch once, and lists the operators that it defines.

What would abort the process that imports the library, or fail in it, becomes one error here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from absl import app, flags

from codegen.artifacts import torch_manifest, torch_operators
from diagnostics.errors import InputError
from torch_ops import load_check

_LIBRARY = flags.DEFINE_string("library", None, "The shared library.", required=True)
_MANIFEST = flags.DEFINE_string("manifest", None, "Its .torch.json.", required=True)
_NM = flags.DEFINE_string("nm", None, "The program that lists symbols.", required=True)
_OUTPUT = flags.DEFINE_string("output", None, "Where to write the operators, as JSON.", required=True)


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    try:
        manifest = torch_manifest.read(_MANIFEST.value)
        operators = load_check.check(_LIBRARY.value, manifest, _NM.value)
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    torch_operators.write(manifest.label, operators, _OUTPUT.value)
    return 0


if __name__ == "__main__":
    app.run(main)
