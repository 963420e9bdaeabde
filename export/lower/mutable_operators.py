"""Checks custom operators that write to their arguments. ExecuTorch exports only operators that also have a result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from executorch.exir.operator import convert

from diagnostics.errors import Finding, InputError
from export.graph_passes import graphs
from export.user.model_file import Method

# PyTorch functionalizes the operators of these namespaces.
_FUNCTIONALIZED = ("aten", "prim", "prims")


def check(method: Method, exported: torch.export.ExportedProgram) -> None:
    """Checks that ExecuTorch can lower the writes of all operators that a method calls.

    Raises:
        InputError: ExecuTorch cannot lower an operator. The error has a finding for each such operator.
    """
    findings: dict[str, Finding] = {}
    for operator, node in _calls(exported):
        reason = _reason(operator._schema) if operator.namespace not in _FUNCTIONALIZED else ""
        if reason and operator.name() not in findings:
            findings[operator.name()] = _finding(method, operator, node, reason)
    if findings:
        raise InputError(list(findings.values()))


def _calls(exported: torch.export.ExportedProgram) -> Iterator[tuple[torch._ops.OpOverload, torch.fx.Node]]:
    """Yields the called operators with their nodes. A higher-order operator may wrap an operator that writes."""
    for node in graphs.all_nodes(exported.graph_module):
        operator: Any = node.target
        if isinstance(operator, torch._ops.HigherOrderOperator) and node.args:
            operator = node.args[0]  # As in auto_functionalized(operator, ...).
        if isinstance(operator, torch._ops.OpOverload):
            yield operator, node


def _written(schema: torch.FunctionSchema) -> list[str]:
    """Returns the names of the arguments that an operator writes to."""
    return [argument.name for argument in schema.arguments if argument.is_write]


def _reason(schema: torch.FunctionSchema) -> str:
    """Returns the reason why a program cannot call an operator; empty if a program can."""
    if not _written(schema):
        return ""
    if not schema.returns:
        return "and returns nothing"
    if any(returned.alias_info for returned in schema.returns):
        return "and returns one of its arguments"
    if convert._pybind_schema_to_native_schema(schema) is None:
        return "and has a schema that ExecuTorch cannot read"
    return ""


def _finding(method: Method, operator: torch._ops.OpOverload, node: torch.fx.Node, reason: str) -> Finding:
    schema = operator._schema
    at, frames = method.source.frames_of_text(node.meta.get("stack_trace") or "")
    name = operator.name().partition("::")[2]
    writes = ", ".join(_written(schema))
    return Finding(
        at or method.at,
        f"{method.name}() calls {operator.name()}, which writes to its argument {writes} {reason}",
        "an ExecuTorch program gives each result of a custom operator memory of its own. In-place operators, and those"
        " of torch.library.custom_op with mutates_args, are for eager PyTorch.",
        f"return a new tensor from the operator, and use the result: {name.removesuffix('_').partition('.')[0]}(...) ->"
        " Tensor. Only an operator that has a result beside what it writes, such as the update of a cache, may"
        " write: torch.library.Library.define with the schemas op(Tensor(a!) cache, ...) -> Tensor and"
        " op.out(Tensor(a!) cache, ..., *, Tensor(b!) out) -> Tensor(b!).",
        (f"the schema: {schema}", *frames),
        id="mutable-operator",
    )
