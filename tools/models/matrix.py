"""Writes docs/models.md: the sizes of the models of examples/models, and the operators that they call, with dtypes.

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
_SIZES = Path("tools/models/sizes.json")


def section(matrix: Mapping[str, Any], sizes: Mapping[str, Mapping[str, int]]) -> str:
    """Returns the section of the document.

    Args:
        matrix: the matrix that et_operator_library wrote.
        sizes: what sizes.py wrote.
    """
    models = sorted(matrix["sources"])
    operators = sorted(matrix["operators"].items())
    legend = []
    for number, model in enumerate(models, start=1):
        name = model.rpartition(":")[2]
        called = sum(model in calling for _, calling in operators)
        kinds = [_megabytes(sizes[name].get(kind)) for kind in ("weights", "default", "all_passes")]
        legend.append([f"{number}. `{name}`", called, *kinds])
    rows = [
        [f"`{name}`", _dtypes(calling), *("x" if model in calling else "" for model in models)]
        for name, calling in operators
    ]
    return "\n\n".join(
        [
            "## Operators",
            f"The programs call {len(operators)} operators. The dtypes are those of all tensors of the calls. Sizes are"
            " in megabytes: the parameters and buffers of the module in PyTorch, the program with the default graph"
            " passes, and that with all graph passes. The weights of a quantized program are those before the"
            " quantization.",
            "    tools/bazel run //tools/models:matrix",
            report.table(["model", "operators", "weights", "`.pte`", "`.pte` with all passes"], legend),
            report.table(["operator", "dtypes", *(str(number) for number in range(1, len(models) + 1))], rows),
        ]
    )


def _dtypes(calling: Mapping[str, Any]) -> str:
    return " ".join(sorted({dtype for entry in calling.values() for dtype in entry["dtypes"] or ["any"]}))


def _megabytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:.1f}"


def read() -> tuple[Mapping[str, Any], Mapping[str, Mapping[str, int]]]:
    """Reads the matrix and the sizes of examples/models, which the build wrote."""
    return json.loads(_MATRIX.read_text()), json.loads(_SIZES.read_text())


def main(argv: Sequence[str]) -> None:
    del argv
    report.replace_section(
        Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "docs" / "models.md", SECTION, section(*read())
    )


if __name__ == "__main__":
    app.run(main)
