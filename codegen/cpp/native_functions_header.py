"""NativeFunctions.h: declares each kernel with a context, as generated code calls the kernel.

A library may define a kernel with or without a context. If the kernel has no context, KernelAdapters.cpp defines the
overload with a context.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from codegen.cpp import namespaces, template
from codegen.cpp.source import Source
from codegen.model import signatures
from codegen.model.operators import Operator


def text(source: Source, operators: Sequence[Operator]) -> str:
    """Returns the text of NativeFunctions.h."""
    kernels = [
        (name, operator)
        for operator in operators
        for name in dict.fromkeys(kernel.function for kernel in operator.kernels if not kernel.is_aten)
    ]
    groups = namespaces.by_namespace(kernels)
    declarations = namespaces.blocks({name: _declarations(group) for name, group in groups.items()})
    return source.fill("NativeFunctions.h", declarations=declarations)


def _declarations(kernels: Sequence[tuple[str, Operator]]) -> Iterator[str]:
    """Yields the declaration of each kernel of one namespace, below a comment with the kernel's operators."""
    operators_of: dict[tuple[str, tuple[str, ...]], list[Operator]] = {}
    for name, operator in kernels:
        operators_of.setdefault((name, signatures.parameter_types(operator.schema)), []).append(operator)
    for (name, _), operators in operators_of.items():
        yield _declaration(name, tuple(operators))


@functools.cache
def _declaration(name: str, operators: tuple[Operator, ...]) -> str:
    namespace, _, kernel = name.rpartition("::")
    function = operators[0].schema
    context = namespaces.spelled(f"{signatures.CONTEXT}& context", namespace)
    return template.fill(
        "kernel_declaration.h",
        schemas="".join(f"// {operator.schema}\n" for operator in operators),
        return_type=namespaces.spelled(signatures.return_type(function), namespace),
        kernel=kernel,
        parameters=", ".join([context, *namespaces.parameters(function, namespace)]),
    )
