"""<library>.torch_operators.json: the operators that an operator library defines in PyTorch's dispatcher."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codegen.artifacts import json_file

_FORMAT = json_file.Format(
    ".torch_operators.json", "the operators of an operator library", "the load check of a torch_op_library"
)


@dataclass(frozen=True, slots=True)
class TorchOperator:
    """An operator in PyTorch's dispatcher.

    Attributes:
        name: the operator's full name.
        schema: the operator's schema, in PyTorch's notation.
        kernels: the dispatch keys of the operator's kernels.
        derived_by: the label of the library that derives the operator from the out variant; empty for none.
    """

    name: str
    schema: str
    kernels: tuple[str, ...]
    derived_by: str = ""


@dataclass(frozen=True, slots=True)
class TorchOperators:
    """The label and the operators of one library."""

    label: str
    operators: tuple[TorchOperator, ...]


def write(label: str, operators: Sequence[TorchOperator], path: str) -> None:
    """Writes the operators of a library. Equal operators give equal bytes."""
    lines = ",\n".join(json.dumps(asdict(operator)) for operator in operators)
    Path(path).write_text(f'{{"label": {json.dumps(label)}, "operators": [\n{lines}\n]}}\n')


def read(path: str) -> TorchOperators:
    """Reads the operators of a library.

    Raises:
        InputError: `write` did not write the file.
    """
    return json_file.read(path, _FORMAT, _parse)


def _parse(content: Any) -> TorchOperators:
    operators = tuple(
        TorchOperator(entry["name"], entry["schema"], tuple(entry["kernels"]), entry["derived_by"])
        for entry in content["operators"]
    )
    return TorchOperators(content["label"], operators)
