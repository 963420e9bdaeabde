"""Writes the matrix in docs/models.md: the operators that each model of examples/models calls, with the dtypes.

tools/bazel run //tools/models:matrix
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from absl import app

from tools.bench import report

SECTION = "operators"

_MATRIX = Path("examples/models/operators/op_matrix.json")


def section(matrix: Mapping[str, Any]) -> str:
    """Returns the section of the document for a matrix that et_operator_library wrote."""
    models = sorted(matrix["sources"])
    operators = sorted(matrix["operators"].items())
    legend = [
        f"{number}. `{model.rpartition(':')[2]}`, {sum(model in calling for _, calling in operators)} operators"
        for number, model in enumerate(models, start=1)
    ]
    rows = [
        [f"`{name}`", _dtypes(calling), *("x" if model in calling else "" for model in models)]
        for name, calling in operators
    ]
    return "\n\n".join(
        [
            "## Operators",
            f"The programs call {len(operators)} operators. The dtypes are those of all tensors of the calls.",
            "    tools/bazel run //tools/models:matrix",
            "\n".join(legend),
            report.table(["operator", "dtypes", *(str(number) for number in range(1, len(models) + 1))], rows),
        ]
    )


def _dtypes(calling: Mapping[str, Any]) -> str:
    return " ".join(sorted({dtype for entry in calling.values() for dtype in entry["dtypes"] or ["any"]}))


def read() -> Mapping[str, Any]:
    """Reads the matrix of examples/models, which the build wrote."""
    matrix: Mapping[str, Any] = json.loads(_MATRIX.read_text())
    return matrix


def main(argv: Sequence[str]) -> None:
    del argv
    report.replace_section(
        Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "docs" / "models.md", SECTION, section(read())
    )


if __name__ == "__main__":
    app.run(main)
