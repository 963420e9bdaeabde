"""The operator matrix: the models and lists that request each operator, with the dtypes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codegen.artifacts import json_file
from codegen.model import kernel_keys, selection
from codegen.model.selection import SelectedOperator, Selection

# The selection of each model or list alone, by the label.
Matrix = Mapping[str, Selection]

_FORMAT = json_file.Format("op_matrix.json", "a matrix of operators", "'codegen select'")


def write_json(matrix: Matrix, label: str, path: str) -> None:
    """Writes a matrix as JSON. Equal matrices give equal bytes.

    `operators` has the sources of each operator. Each source has the kernel keys and the names of their dtypes, or null
    for all dtypes. `include_all_operators` has the sources that request all operators of a library.
    """
    content = {
        "selection": label,
        "sources": sorted(matrix),
        "include_all_operators": sorted(source for source, wanted in matrix.items() if wanted.include_all),
        "operators": {
            name: {
                source: {
                    "dtypes": _dtypes(operator),
                    "kernel_keys": sorted(operator.kernel_keys),
                }
                for source, operator in sources.items()
            }
            for name, sources in _by_operator(matrix).items()
        },
    }
    Path(path).write_text(json.dumps(content, indent=2) + "\n")


def read(path: str) -> Matrix:
    """Reads a matrix that `write_json` wrote.

    Raises:
        InputError: `write_json` did not write the file.
    """
    return json_file.read(path, _FORMAT, _parse)


def _parse(content: Any) -> Matrix:
    wanted: dict[str, dict[str, SelectedOperator]] = {source: {} for source in content["sources"]}
    for name, sources in content["operators"].items():
        for source, entry in sources.items():
            keys = frozenset(entry["kernel_keys"])
            wanted[source][name] = SelectedOperator(frozenset({source}), kernel_keys=keys)
    everything = content["include_all_operators"]
    return {source: Selection(operators, source in everything) for source, operators in wanted.items()}


def unite(*matrices: Matrix) -> Matrix:
    """Returns a matrix with the sources of several matrices."""
    united: dict[str, Selection] = {}
    for matrix in matrices:
        for source, wanted in matrix.items():
            united[source] = selection.unite([united[source], wanted]) if source in united else wanted
    return united


def write_text(matrix: Matrix, label: str, path: str) -> None:
    """Writes a matrix as a table of text, with a row for each operator and a column for each source."""
    sources = sorted(matrix)
    legend = [
        f"[{number}] {source}{' (all operators)' if matrix[source].include_all else ''}"
        for number, source in enumerate(sources, start=1)
    ]
    rows = [["", *(f"[{number}]" for number in range(1, len(sources) + 1))]]
    for name, asking in _by_operator(matrix).items():
        rows.append([name, *(_cell(asking.get(source)) for source in sources)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    head = f"The operators of {label}, and who asks for them with which dtypes:"
    Path(path).write_text("\n".join([head, "", *legend, "", *(table if len(rows) > 1 else [])]).rstrip() + "\n")


def _by_operator(matrix: Matrix) -> dict[str, dict[str, SelectedOperator]]:
    """Returns the sources of each operator. Operators and sources are sorted."""
    operators: dict[str, dict[str, SelectedOperator]] = {}
    for source in sorted(matrix):
        for name, operator in matrix[source].operators.items():
            operators.setdefault(name, {})[source] = operator
    return dict(sorted(operators.items()))


def _dtypes(operator: SelectedOperator) -> list[str] | None:
    numbers = kernel_keys.dtypes(operator.kernel_keys)
    return None if numbers is None else kernel_keys.dtype_names(numbers)


def _cell(operator: SelectedOperator | None) -> str:
    if operator is None:
        return "-"
    dtypes = _dtypes(operator)
    return "any" if dtypes is None else " ".join(dtypes)
