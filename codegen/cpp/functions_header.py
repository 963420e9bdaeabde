"""Functions.h: each operator as a typed function, `torch::executor::<operator's namespace>::<name>_outf`."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from codegen.cpp import namespaces, template
from codegen.cpp.source import Source
from codegen.model import schema, signatures
from codegen.model.operators import Operator


def text(source: Source, operators: Sequence[Operator], native_functions: str) -> str:
    """The text of Functions.h.

    Args:
        source: what the file is made from.
        operators: the operators.
        native_functions: how to include NativeFunctions.h.
    """
    groups: dict[str, list[Operator]] = {}
    for operator in operators:
        groups.setdefault(_namespace(operator.schema), []).append(operator)
    blocks = namespaces.blocks({name: _functions(group) for name, group in groups.items()})
    return source.fill("Functions.h", native_functions=native_functions, functions=blocks)


def _namespace(function: schema.FunctionSchema) -> str:
    return f"torch::executor::{function.name.namespace}"


def _functions(operators: Sequence[Operator]) -> Iterator[str]:
    """The functions of one namespace's operators."""
    first_operators: dict[tuple[str, tuple[str, ...]], Operator] = {}
    for operator in operators:
        function, default = operator.schema, operator.default
        if default is None:
            why = "Has no kernel for every dtype and dim order; call one of its kernels instead."
            yield _no_function(function, why)
        elif default.is_aten:
            why = "Its kernel takes tensors of PyTorch; call the operator in PyTorch's namespace instead."
            yield _no_function(function, why)
        else:
            key = (signatures.wrapper_name(function), signatures.parameter_types(function))
            first = first_operators.setdefault(key, operator)
            if first is operator:
                yield _function(operator, default.function)
            else:
                why = f"The same function as that of {first.name} in C++; call its kernel {default.function} instead."
                yield _no_function(function, why)


def _no_function(function: schema.FunctionSchema, why: str) -> str:
    return template.fill("no_function.h", schema=function, why=why)


@functools.cache
def _function(operator: Operator, kernel: str) -> str:
    function = operator.schema
    namespace = _namespace(function)
    context = namespaces.spelled(f"{signatures.CONTEXT}& context", namespace)
    return template.fill(
        "function.h",
        schema=function,
        return_type=namespaces.spelled(signatures.return_type(function), namespace),
        function=signatures.wrapper_name(function),
        parameters=", ".join([context, *namespaces.parameters(function, namespace)]),
        kernel=kernel,
        arguments=", ".join(["context", *signatures.parameter_names(function)]),
    )
