"""Generates the C++ header with which kernels check the dim orders of their tensors."""

from __future__ import annotations

from collections.abc import Sequence

from export.graph_passes.generator import own_operators
from export.graph_passes.generator.own_operators import OwnOperator

_NAMESPACE = "rules_executorch::kernels"
_HEADER = f"""#pragma once

// The checks of the dim orders that operators declare. Written from own_custom_ops.yaml.

#include <optional>

#include "kernels/views/memory_format.h"

namespace {_NAMESPACE} {{
"""


def header(operators: Sequence[OwnOperator]) -> str:
    """Returns the text of the header: a function for each operator that does not take all tensors in any order."""
    functions = [_function(one) for one in operators if set(one.dim_orders.values()) != {"any"}]
    return "\n".join([_HEADER, *functions, f"}}  // namespace {_NAMESPACE}\n"])


def _function(operator: OwnOperator) -> str:
    name, orders = operator.schema.name, operator.dim_orders
    parameters, checks = [], []
    for argument in operator.schema.arguments:
        if argument.name not in orders:
            continue
        is_read = orders[argument.name] != "any" or f"like {argument.name}" in orders.values()
        is_optional = str(argument.type) == "Tensor?"
        type_ = "std::optional<Tensor>" if is_optional else "Tensor"
        parameters.append(f"const {type_}& {argument.name if is_read else f'/*{argument.name}*/'}")
        if orders[argument.name] != "any":
            checks.append(_check(name.unqualified, argument.name, orders[argument.name], is_optional=is_optional))
    return (
        f"/// Whether the tensors of {name.unqualified} have the dim orders that the operator declares.\n"
        f"inline bool {name.name}_dim_orders_fit({', '.join(parameters)}) {{\n{''.join(checks)}  return true;\n}}\n"
    )


def _check(operator: str, argument: str, order: str, *, is_optional: bool) -> str:
    tensor = f"*{argument}" if is_optional else argument
    other = own_operators.like(order)
    fits = f"have_same_dim_order({tensor}, {other})" if other else f"is_{order}({tensor})"
    condition = f"!{argument}.has_value() || {fits}" if is_optional else fits
    expected = f"the dim order of {other}" if other else f"{order} order"
    return (
        f"  ET_CHECK_OR_RETURN_FALSE({condition},\n"
        f'                           "{operator}: expected {argument} in {expected}, got another dim order");\n'
    )
