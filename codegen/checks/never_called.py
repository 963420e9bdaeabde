"""Finds operators that a library registers and that no exported program calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from codegen.model import aten_kernels
from codegen.model.operators import Operator
from codegen.model.schema import FunctionSchema, OperatorName


def notes(operators: Mapping[str, Operator]) -> Iterator[str]:
    """One note for each operator whose out variant programs call in its place, and which the library lacks.

    Args:
        operators: what the library registers, by the operators' full names.
    """
    for operator in operators.values():
        function = operator.schema
        # A program's memory is planned before it runs, so that an export replaces what gives new tensors. What gives
        # numbers stays, and so do operators of PyTorch that change their input, which write states back.
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
    """The names of an operator's out variants: those of PyTorch, or the one that a custom operator would have."""
    name = function.name
    if name.namespace == "aten":
        return aten_kernels.out_variants(function)
    overload = f"{name.overload}_out" if name.overload else "out"
    return [str(OperatorName(name.namespace, name.name.removesuffix("_"), overload))]
