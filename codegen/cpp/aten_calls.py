"""AtenKernels.cpp, and the functions that call kernels through PyTorch's dispatcher."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from codegen.cpp import layout, namespaces, template
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import signatures, torch_schemas
from codegen.model.schema_types import Dialect

# The include of sources with such functions.
INCLUDE = '#include "runtime/aten/aten_operator.h"\n'


def text(source: Source, kernels: Sequence[BoxedKernel]) -> str:
    """Returns the text of AtenKernels.cpp.

    Args:
        source: the library.
        kernels: the kernels of YAML files that take PyTorch's tensors.
    """
    if not kernels:
        what = "Calls the kernels that take PyTorch's tensors"
        return source.fill("nothing.cpp", what=what, why="No operator that is selected has such a kernel.")
    declarations: dict[str, list[str]] = {}
    for kernel in kernels:
        namespace, _, name = kernel.kernel.function.rpartition("::")
        declarations.setdefault(namespace, []).append(_declaration(kernel, name))
    return source.fill(
        "AtenKernels.cpp",
        declarations=namespaces.blocks({name: dict.fromkeys(texts) for name, texts in declarations.items()}),
        definitions="".join(_definition(kernel) for kernel in kernels),
        kernels="\n".join(aten_kernel(kernel, source) for kernel in kernels),
    )


@functools.cache
def aten_kernel(boxed: BoxedKernel, source: Source) -> str:
    """Returns the function that calls a kernel through PyTorch's dispatcher."""
    function = boxed.operator.schema
    dispatched, overload = f"{function.name.namespace}::{function.name.name}", function.name.overload
    if boxed.takes_aten_tensors:
        dispatched, overload = f"{source.namespace}::{boxed.function}", ""
    written = (i for i, argument in enumerate(function.arguments) if argument in function.out or argument.is_written)
    return template.fill(
        "aten_kernel.cpp",
        schema=function,
        function=boxed.function,
        operator=function.name,
        dispatched=dispatched,
        overload=overload,
        traced=function.name.unqualified,
        logs="".join(map(log, written)),
    )


def log(slot: int) -> str:
    """Returns the statement that logs a value of a call with the event tracer."""
    return f"  event_tracer_log_evalue(context.internal_event_tracer(), *stack[{slot}]);\n"


def _declaration(boxed: BoxedKernel, name: str) -> str:
    function = boxed.operator.schema
    types, names = signatures.parameter_types(function, Dialect.ATEN), signatures.parameter_names(function)
    parameters = ", ".join(f"{type_} {name}" for type_, name in zip(types, names, strict=True))
    return layout.fit(f"{signatures.return_type(function, Dialect.ATEN)} {name}({parameters});\n")


def _definition(boxed: BoxedKernel) -> str:
    """Returns the statements that register a kernel with PyTorch's dispatcher, under the library's name for it."""
    function = boxed.operator.schema
    return template.fill(
        "aten_definition.cpp",
        schema=layout.quoted(torch_schemas.of_cpp_kernel(function, boxed.function)),
        function=boxed.function,
        return_type=signatures.return_type(function, Dialect.ATEN),
        types=", ".join(signatures.parameter_types(function, Dialect.ATEN)),
        kernel=boxed.kernel.function,
    )
