"""KernelTable.cpp: the table of kernels for the runtime, and the functions of the first kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.cpp import boxed_calls, layout, template
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import kernel_keys


def text(
    source: Source,
    kernels: Sequence[BoxedKernel],
    own: Sequence[BoxedKernel],
    header: str,
    *,
    exception_boundary: bool,
    has_typed_kernels: bool = False,
) -> str:
    """Returns the text of KernelTable.cpp.

    Args:
        source: the library.
        kernels: the kernels.
        own: the kernels whose functions are in this file. Other files have the others.
        header: the include path of NativeFunctions.h, or of TypedKernels.h.
        exception_boundary: whether an exception of a kernel becomes a failure of the call.
        has_typed_kernels: whether the header is TypedKernels.h.
    """
    if not kernels:
        return source.fill("EmptyKernelTable.cpp")
    return source.fill(
        "KernelTable.cpp",
        **boxed_calls.values(source, own, header, has_typed_kernels=has_typed_kernels),
        declarations=_declarations([kernel for kernel in kernels if kernel not in own]),
        exception_boundary=template.fill("exception_boundary.cpp") if exception_boundary else "",
        entries="".join(entry for kernel in kernels for entry in _entries(kernel, exception_boundary)),
    )


def _declarations(others: Sequence[BoxedKernel]) -> str:
    """Returns the declarations of the functions that other files have."""
    if not others:
        return ""
    boxed = (f"void {kernel.function}(KernelRuntimeContext& context, Span<EValue*> stack);\n" for kernel in others)
    return "\n// In other files.\n" + "".join(boxed)


def _entries(boxed: BoxedKernel, exception_boundary: bool) -> Iterator[str]:
    function = f"guarded<{boxed.function}>" if exception_boundary else boxed.function
    name = layout.quoted(boxed.operator.name)
    for key in boxed.keys:
        of_key = "" if key == kernel_keys.DEFAULT else f"{layout.quoted(key)}, "
        yield f"    Kernel({name}, {of_key}{function}),\n"
