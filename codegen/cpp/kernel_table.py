"""KernelTable.cpp: the table of kernels for the runtime, and the functions of the first kernels.

A library with kernels for several instruction sets is compiled from two more files. NamedKernelTable.cpp is compiled
for each instruction set, and gives the set's copy of the table a name. ChosenKernelTable.cpp chooses one of these
tables, by the processor's instruction set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.cpp import boxed_calls, functions_header, layout, template
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import kernel_keys


def text(
    source: Source,
    kernels: Sequence[BoxedKernel],
    own: Sequence[BoxedKernel],
    native_functions: str,
    *,
    exception_boundary: bool,
    functions: str | None = None,
) -> str:
    """Returns the text of KernelTable.cpp.

    Args:
        source: the library.
        kernels: the kernels.
        own: the kernels whose functions are in this file. Other files have the others.
        native_functions: the include path of NativeFunctions.h.
        exception_boundary: whether an exception of a kernel becomes a failure of the call.
        functions: the include path of Functions.h if the library has kernels for several instruction sets; else None.
    """
    table = "kernels" if functions is None else "own_kernels"
    if not kernels:
        return source.fill("EmptyKernelTable.cpp", table=table)
    called = functions_header.called(kernels) if functions is not None else []
    addresses = "".join(f"      &::{kernel.kernel.function},\n" for kernel in called)
    headers = [functions, native_functions] if called and functions is not None else [native_functions]
    return source.fill(
        "KernelTable.cpp",
        **boxed_calls.values(source, own, headers),
        declarations=_declarations([kernel for kernel in kernels if kernel not in own]),
        exception_boundary=template.fill("exception_boundary.cpp") if exception_boundary else "",
        table=table,
        entries="".join(entry for kernel in kernels for entry in _entries(kernel, exception_boundary)),
        typed_table=template.fill("typed_table.cpp", addresses=addresses) if called else "",
    )


def _declarations(others: Sequence[BoxedKernel]) -> str:
    """Returns the declarations of the functions that other files have."""
    if not others:
        return ""
    boxed = (f"void {kernel.function}(KernelRuntimeContext& context, Span<EValue*> stack);\n" for kernel in others)
    return "\n// In other files.\n" + "".join(boxed)


def chosen(source: Source, kernels: Sequence[BoxedKernel], instruction_sets: Sequence[str]) -> str:
    """Returns the text of ChosenKernelTable.cpp.

    Args:
        source: the library.
        kernels: the kernels.
        instruction_sets: the instruction sets of the library, the widest first. The program requires the last one.
    """

    def of_sets(prefix: str, type_: str, indent: str) -> dict[str, str]:
        """Returns the declarations and the choice among functions, one for each instruction set."""
        return {
            "plain": instruction_sets[-1],
            "declarations": "".join(f"{type_} {prefix}kernels_{name}();\n" for name in instruction_sets),
            "choices": "".join(
                f"{indent}if (has_instruction_set({enumerator(name)})) return {prefix}kernels_{name}();\n"
                for name in instruction_sets[:-1]
            ),
        }

    typed = ""
    if functions_header.called(kernels):
        typed = template.fill("typed_choice.cpp", **of_sets("typed_", "const TypedKernels&", "    "))
    choice = of_sets("", "Span<const Kernel>", "  ")
    return source.fill("ChosenKernelTable.cpp", **choice, kernel_type=_kernel_type(source), typed_choice=typed)


def named(source: Source, kernels: Sequence[BoxedKernel]) -> str:
    """Returns the text of NamedKernelTable.cpp.

    Args:
        source: the library.
        kernels: the kernels.
    """
    typed = template.fill("typed_name.cpp") if functions_header.called(kernels) else ""
    return source.fill("NamedKernelTable.cpp", kernel_type=_kernel_type(source), typed_name=typed)


def _kernel_type(source: Source) -> str:
    return template.fill("kernel_type.cpp", namespace=source.namespace)


def enumerator(instruction_set: str) -> str:
    """Returns the name of an instruction set in runtime/kernel_api/instruction_set.h."""
    return "InstructionSet::k" + "".join(word.capitalize() for word in instruction_set.split("_"))


def _entries(boxed: BoxedKernel, exception_boundary: bool) -> Iterator[str]:
    function = f"guarded<{boxed.function}>" if exception_boundary else boxed.function
    name = layout.quoted(boxed.operator.name)
    for key in boxed.keys:
        of_key = "" if key == kernel_keys.DEFAULT else f"{layout.quoted(key)}, "
        yield f"    Kernel({name}, {of_key}{function}),\n"
