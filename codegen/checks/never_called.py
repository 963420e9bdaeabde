"""Finds operators that a library registers and that no exported program calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codegen.model import aten_kernels
from codegen.model.operators import Operator
from codegen.model.schema import FunctionSchema, OperatorName


def notes(operators: Mapping[str, Operator]) -> Iterator[str]:
    """Yields a note for each operator without out arguments whose out variant the library lacks.

    Programs call the out variant in place of the operator.

    Args:
        operators: the operators that the library registers, by their full names.
    """
    for operator in operators.values():
        function = operator.schema
        # ExecuTorch plans a program's memory before the run, so an export replaces operators that return new tensors by
        # out variants. Operators that return numbers stay. In-place operators of PyTorch also stay: they update states.
        if function.out or not function.returns or any(str(r.type) != "Tensor" for r in function.returns):
            continue
        is_in_place = any(returned.is_written for returned in function.returns)
        if is_in_place and function.name.namespace == "aten":
            continue
        variants = _out_variants(function)
        if variants and not any(variant in operators for variant in variants):
            yield (
                f"{operator.location}: note: no exported program calls {operator.name}, which "
                f"{'changes its argument' if is_in_place else 'gives a new tensor'}; programs call its out variant, "
                f"{variants[0]}"
            )


def _out_variants(function: FunctionSchema) -> list[str]:
    """Returns the names of an operator's out variants: PyTorch's, or the expected name for a custom operator."""
    name = function.name
    if name.namespace == "aten":
        return aten_kernels.out_variants(function)
    overload = f"{name.overload}_out" if name.overload else "out"
    return [str(OperatorName(name.namespace, name.name.removesuffix("_"), overload))]
