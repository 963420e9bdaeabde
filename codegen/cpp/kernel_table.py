"""KernelTable.cpp: the table of the kernels, in which the runtime looks them up.

ChosenKernelTable.cpp chooses among several tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.cpp import layout, template
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import kernel_keys


def text(source: Source, kernels: Sequence[BoxedKernel], exception_boundary: bool) -> str:
    """The text of KernelTable.cpp.

    Args:
        source: what the file is made from.
        kernels: the kernels.
        exception_boundary: whether what a kernel throws becomes the failure of its call.
    """
    if not kernels:
        return source.fill("EmptyKernelTable.cpp")
    functions = (f"void {kernel.function}(KernelRuntimeContext& context, Span<EValue*> stack);\n" for kernel in kernels)
    return source.fill(
        "KernelTable.cpp",
        declarations="".join(functions),
        exception_boundary=template.fill("exception_boundary.cpp") if exception_boundary else "",
        entries="".join(entry for kernel in kernels for entry in _entries(kernel, exception_boundary)),
    )


def chosen(source: Source, instruction_sets: Sequence[str]) -> str:
    """The text of ChosenKernelTable.cpp.

    Args:
        source: what the file is made from.
        instruction_sets: what KernelTable.cpp is compiled for, from the widest instruction set on. The program needs
            the last one.
    """
    choices = (
        f"  if (has_instruction_set({_enumerator(name)})) return kernels_{name}();\n" for name in instruction_sets[:-1]
    )
    return source.fill(
        "ChosenKernelTable.cpp",
        declarations="".join(f"Span<const Kernel> kernels_{name}();\n" for name in instruction_sets),
        choices="".join(choices),
        plain=instruction_sets[-1],
        plain_enumerator=_enumerator(instruction_sets[-1]),
        quoted_label=layout.quoted(source.label),
    )


def _enumerator(instruction_set: str) -> str:
    """As in runtime/kernel_api/instruction_set.h."""
    return "InstructionSet::k" + "".join(word.capitalize() for word in instruction_set.split("_"))


def _entries(boxed: BoxedKernel, exception_boundary: bool) -> Iterator[str]:
    function = f"guarded<{boxed.function}>" if exception_boundary else boxed.function
    name = layout.quoted(boxed.operator.name)
    for key in boxed.keys:
        of_key = "" if key == kernel_keys.DEFAULT else f"{layout.quoted(key)}, "
        yield f"    Kernel({name}, {of_key}{function}),\n"
