"""TorchOperators.cpp: defines operators in PyTorch when the library is loaded. Includes no headers of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codegen.cpp import layout, template
from codegen.cpp.source import Source
from codegen.model import torch_schemas
from codegen.model.operators import Operator
from codegen.model.schema import FunctionSchema


def text(source: Source, operators: Sequence[Operator], *, functional_variants: bool) -> str:
    """Returns the text of TorchOperators.cpp.

    Args:
        source: the library.
        operators: the library's operators.
        functional_variants: whether to derive the functional variant of each out variant.
    """
    defined = {operator.name for operator in operators}
    entries = [_entry(operator, _derived(operator, defined) if functional_variants else None) for operator in operators]
    return source.fill("TorchOperators.cpp", operators="".join(entries))


def _derived(operator: Operator, defined: set[str]) -> FunctionSchema | None:
    functional = torch_schemas.functional(operator.schema)
    return functional if functional and str(functional.name) not in defined else None


def _entry(operator: Operator, derived: FunctionSchema | None) -> str:
    return template.fill(
        "torch_operator.cpp",
        operator_namespace=layout.quoted(operator.schema.name.namespace),
        schema=layout.quoted(torch_schemas.unqualified(operator.schema)),
        functional_schema=layout.quoted(torch_schemas.unqualified(derived)) if derived else "nullptr",
        place=layout.quoted(f"{Path(operator.location.path).name}:{operator.location.line}"),
    )
