"""Writes the sizes of the weights and programs of examples/models, for the table in docs/models.md.

write_sizes --output=sizes.json resnet18.pte resnet18_all_passes.pte ...
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from tools.models import sizes

_OUTPUT = flags.DEFINE_string("output", None, "The file to write (.json).", required=True)


def _main(arguments: Sequence[str]) -> None:
    outputs = [Path(argument) for argument in arguments[1:]]
    found = sizes.of_programs([output for output in outputs if output.suffix == ".pte"])
    Path(_OUTPUT.value).write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    app.run(_main)
