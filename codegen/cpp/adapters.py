"""KernelAdapters.cpp: for each kernel that is defined without a context only, the overload with a context."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.cpp import namespaces, template
from codegen.cpp.source import Source
from codegen.model import signatures
from codegen.model.operators import Operator


def text(source: Source, kernels: Sequence[tuple[str, Operator]]) -> str:
    """Returns the text of KernelAdapters.cpp.

    Args:
        source: the library.
        kernels: the kernels' qualified C++ names, each with an operator that the kernel computes.
    """
    if not kernels:
        why = "Every kernel takes a context, so there is nothing to adapt."
        return source.fill("nothing.cpp", what="Adapts the kernels without a context", why=why)
    groups = namespaces.by_namespace(kernels)
    blocks = namespaces.blocks({name: [_adapter(*kernel) for kernel in group] for name, group in groups.items()})
    return source.fill("KernelAdapters.cpp", adapters=blocks)


def _adapter(name: str, operator: Operator) -> str:
    function = operator.schema
    namespace, _, kernel = name.rpartition("::")
    parameters = namespaces.parameters(function, namespace)
    context = namespaces.spelled(f"{signatures.CONTEXT}&", namespace)
    return template.fill(
        "adapter.cpp",
        schema=function,
        return_type=namespaces.spelled(signatures.return_type(function), namespace),
        kernel=kernel,
        qualified_kernel=name,
        parameters=", ".join(parameters),
        parameters_with_context=", ".join([context, *parameters]),
        arguments=", ".join(signatures.parameter_names(function)),
    )
