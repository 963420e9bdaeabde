"""The functions that call kernels with a program's values, in KernelTable.cpp and in BoxedKernels<n>.cpp."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from codegen.cpp import aten_calls, template, typed_kernels
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import signatures

# With about 64 kernels, the kernels of a source take as long to compile as its headers: with GCC 12 and -O2, 0.01 s for
# each kernel, and 0.7 s for the headers. ExecuTorch's 209 kernels then take 5 s of CPU time, and 1.6 s on four cores.
# In one source, they take 2.9 s; in seven sources, 7 s of CPU time, and 2.0 s on four cores.
_KERNELS_PER_SOURCE = 64


def parts(kernels: Sequence[BoxedKernel]) -> list[Sequence[BoxedKernel]]:
    """Divides kernels among sources of about the same size, which compile in parallel. Gives at least one part."""
    count = max(1, -(-len(kernels) // _KERNELS_PER_SOURCE))
    return [kernels[i * len(kernels) // count : (i + 1) * len(kernels) // count] for i in range(count)]


def write(
    source: Source,
    further: Sequence[Sequence[BoxedKernel]],
    directory: str,
    header: Path,
    *,
    has_typed_kernels: bool,
) -> None:
    """Writes BoxedKernels<n>.cpp.

    Args:
        source: the library.
        further: the parts of the kernels that KernelTable.cpp does not have.
        directory: the folder of the sources.
        header: the path of NativeFunctions.h, or of TypedKernels.h.
        has_typed_kernels: whether the header is TypedKernels.h.
    """
    Path(directory).mkdir(parents=True, exist_ok=True)
    include = os.path.relpath(header, directory)
    for i, kernels in enumerate(further, 1):
        calls = values(source, kernels, include, has_typed_kernels=has_typed_kernels)
        text = source.fill("BoxedKernels.cpp", **calls)
        Path(directory, f"BoxedKernels{i}.cpp").write_text(text)


def values(source: Source, kernels: Sequence[BoxedKernel], header: str, *, has_typed_kernels: bool) -> dict[str, str]:
    """Returns the values for a template of a source with functions that call kernels.

    Args:
        source: the library.
        kernels: the kernels.
        header: the include path of NativeFunctions.h, or of TypedKernels.h.
        has_typed_kernels: whether the header is TypedKernels.h.
    """
    includes = [f'#include "{header}"\n']
    if any(boxed.kernel.is_aten for boxed in kernels):
        includes.append(aten_calls.INCLUDE)
    functions = (
        aten_calls.aten_kernel(boxed, source)
        if boxed.kernel.is_aten
        else _boxed_kernel(
            boxed, typed_kernels.called(source, boxed) if has_typed_kernels else f"::{boxed.kernel.function}"
        )
        for boxed in kernels
    )
    return {
        "own_includes": "".join(includes),
        "prelude": template.fill("boxed_prelude.cpp"),
        "kernels": "".join(f"\n{function}" for function in functions),
    }


@functools.cache
def _boxed_kernel(boxed: BoxedKernel, called: str) -> str:
    """Returns the function that unboxes the values of a call and calls a kernel.

    Args:
        boxed: the kernel.
        called: the full name of the kernel, or of the function that calls the kernel.
    """
    function = boxed.operator.schema
    names = signatures.parameter_names(function)
    variables = zip(names, map(signatures.unboxed, function.arguments), strict=True)
    arguments = (f"  {type_} {name} = stack[{i}]->{read};\n" for i, (name, (type_, read)) in enumerate(variables))
    call = f"{called}({', '.join(['context', *names])});\n"
    if function.out or function.gives_nothing:
        written = function.out or [argument for argument in function.arguments if argument.is_written]
        logged = [i for i, argument in enumerate(function.arguments) if argument in written]
        statements = f"  {call}"
    else:
        result = "auto&" if function.returns[0].is_written else "const auto"
        logged = [len(names)]
        statements = f"  {result} result = {call}  *stack[{len(names)}] = EValue(result);\n"
    return template.fill(
        "boxed_kernel.cpp",
        schema=function,
        function=boxed.function,
        operator=boxed.operator.name,
        # For an operator without results, a call has a value None, or no value.
        count=f"stack.size() == {len(names)} ? {len(names)} : {len(names) + 1}"
        if function.gives_nothing
        else len(names) + 1,
        arguments="".join(arguments),
        traced=function.name.unqualified,
        call=statements,
        logs="".join(map(aten_calls.log, logged)),
    )
