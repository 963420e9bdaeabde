"""TorchOperators.cpp: has PyTorch define operators when the library is loaded. The file includes nothing of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codegen.cpp import layout, template
from codegen.cpp.source import Source
from codegen.model import torch_schemas
from codegen.model.operators import Operator


def text(source: Source, operators: Sequence[Operator]) -> str:
    """The text of TorchOperators.cpp."""
    defined = {operator.name for operator in operators}
    return source.fill("TorchOperators.cpp", operators="".join(_entry(operator, defined) for operator in operators))


def _entry(operator: Operator, defined: set[str]) -> str:
    functional = torch_schemas.functional(operator.schema)
    derived = functional if functional and str(functional.name) not in defined else None
    return template.fill(
        "torch_operator.cpp",
        operator_namespace=layout.quoted(operator.schema.name.namespace),
        schema=layout.quoted(torch_schemas.unqualified(operator.schema)),
        functional_schema=layout.quoted(torch_schemas.unqualified(derived)) if derived else "nullptr",
        place=layout.quoted(f"{Path(operator.location.path).name}:{operator.location.line}"),
    )
