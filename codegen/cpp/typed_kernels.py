"""The kernels of a library that has kernels for several instruction sets, as C++ functions.

TypedKernels.h declares a function for each kernel. ChosenKernels.cpp defines the functions: a function calls the
kernel for the instruction set of the processor. KernelsOfSet.cpp has the addresses of the kernels for one instruction
set. This file is compiled for each set, and linked with the kernels for the set. KernelTable.cpp, Functions.h and
compiled programs call the functions in place of kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codegen.cpp import layout, template
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import signatures


def header(source: Source, kernels: Iterable[BoxedKernel], native_functions: str) -> str:
    """Returns the text of TypedKernels.h.

    Args:
        source: the library.
        kernels: the kernels of the library.
        native_functions: the include path of NativeFunctions.h.
    """
    declarations = "".join(map(declaration, _listed(kernels)))
    if not declarations:
        return _nothing(source)
    return source.fill("TypedKernels.h", native_functions=native_functions, declarations=declarations)


def of_set(source: Source, kernels: Iterable[BoxedKernel], header: str) -> str:
    """Returns the text of KernelsOfSet.cpp.

    Args:
        source: the library.
        kernels: the kernels of the library.
        header: the include path of TypedKernels.h.
    """
    addresses = "".join(map(_address, _listed(kernels)))
    if not addresses:
        return _nothing(source)
    return source.fill("KernelsOfSet.cpp", header=header, addresses=addresses)


def chosen(source: Source, kernels: Iterable[BoxedKernel], header: str, instruction_sets: Sequence[str]) -> str:
    """Returns the text of ChosenKernels.cpp.

    Args:
        source: the library.
        kernels: the kernels of the library.
        header: the include path of TypedKernels.h.
        instruction_sets: the instruction sets of the library, the widest first. The program requires the last one.
    """
    listed = _listed(kernels)
    if not listed:
        return _nothing(source)
    declarations = "".join(f"KERNEL({each.function});\n" for each in listed)
    *wide, plain = instruction_sets
    return source.fill(
        "ChosenKernels.cpp",
        header=header,
        sets="".join(
            template.fill("kernels_of_set.cpp", set=name, declarations=declarations) for name in instruction_sets
        ),
        parameters=", ".join(f"Kernel {name}" for name in instruction_sets),
        choices="".join(f"  if (has_instruction_set({enumerator(name)})) return {name};\n" for name in wide),
        plain=plain,
        macro=_macro(instruction_sets),
        functions="".join(map(_function, listed)),
    )


def called(source: Source, boxed: BoxedKernel) -> str:
    """Returns the full name of the function that calls a kernel."""
    return f"{namespace(source)}::{boxed.function}"


def namespace(source: Source) -> str:
    """Returns the namespace of the functions."""
    return f"::{source.namespace}::typed_kernels"


def declaration(boxed: BoxedKernel, attribute: str = "") -> str:
    """Returns the declaration of the function that calls a kernel.

    Args:
        boxed: the kernel.
        attribute: an attribute of the function, with a space after it.
    """
    schema = boxed.operator.schema
    types = ", ".join([f"{signatures.CONTEXT}&", *signatures.parameter_types(schema)])
    return layout.fit(f"{attribute}{signatures.return_type(schema)} {boxed.function}({types});\n")


def enumerator(instruction_set: str) -> str:
    """Returns the name of an instruction set in runtime/kernel_api/instruction_set.h."""
    return "InstructionSet::k" + "".join(word.capitalize() for word in instruction_set.split("_"))


def _listed(kernels: Iterable[BoxedKernel]) -> list[BoxedKernel]:
    """Returns the kernels that have a function: all except those that take PyTorch's tensors."""
    return [boxed for boxed in kernels if not boxed.kernel.is_aten]


def _nothing(source: Source) -> str:
    """Returns the text of a file of a library without such kernels."""
    return source.fill(
        "nothing.cpp",
        what="Has the kernels for several instruction sets",
        why="The library has no kernels besides PyTorch's own.",
    )


def _address(boxed: BoxedKernel) -> str:
    """Returns the definition of the constant with the address of a kernel."""
    name, address = f"KERNEL({boxed.function}) =", f"&::{boxed.kernel.function};\n"
    space = " " if len(name) + len(address) <= layout.COLUMNS else "\n    "
    return f"{name}{space}{address}"


def _macro(instruction_sets: Sequence[str]) -> str:
    """Returns the definition of the macro that chooses among the kernels for each instruction set."""
    kernels = ", ".join(f"kernels_{name}::kernel" for name in instruction_sets)
    head, body = "#define CHOSEN(kernel)", f"choice::of({kernels})"
    line = f"{head} {body}\n"
    return line if len(line) <= layout.COLUMNS else f"{head} \\\n  {body}\n"


def _function(boxed: BoxedKernel) -> str:
    """Returns the definition of the function that calls a kernel."""
    schema = boxed.operator.schema
    names = signatures.parameter_names(schema)
    pairs = zip(signatures.parameter_types(schema), names, strict=True)
    parameters = [f"{signatures.CONTEXT}& context", *(f"{type_} {name}" for type_, name in pairs)]
    return template.fill(
        "chosen_kernel.cpp",
        return_type=signatures.return_type(schema),
        function=boxed.function,
        parameters=", ".join(parameters),
        arguments=", ".join(["context", *names]),
    )
