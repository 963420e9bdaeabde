"""RegisterKernels.cpp, RegisterKernels.h and RegisteredNames.cpp, which register the kernels with the runtime."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.cpp import layout
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import kernel_keys

# If two libraries define a name of this C++ namespace, the linker fails and prints the name.
_REGISTERED_NAMESPACE = "kernel_registered_by_two_libraries"
_NOTHING = "No operator is selected, so there is nothing to register."


def at_start(source: Source, kernels: Sequence[BoxedKernel]) -> str:
    """Returns RegisterKernels.cpp for a library that registers its kernels at program start."""
    if not kernels:
        return source.fill("nothing.cpp", what="Registers the kernels", why=_NOTHING)
    return source.fill("RegisterKernels.cpp", quoted_label=layout.quoted(source.label))


def on_request(source: Source, header: str) -> str:
    """Returns RegisterKernels.cpp for a library with manual registration.

    Args:
        source: the library.
        header: the include path of RegisterKernels.h.
    """
    return source.fill("RegisterKernelsOnRequest.cpp", registration_header=header)


def header(source: Source) -> str:
    """Returns RegisterKernels.h for a library with manual registration."""
    return source.fill("RegisterKernels.h", see="docs/errors.md#same-name-in-cpp")


def names(source: Source, kernels: Sequence[BoxedKernel]) -> str:
    """Returns RegisteredNames.cpp. If two libraries register one kernel, the linker fails.

    The compilation of this file is short, since the file includes nothing. After a change of the selection,
    RegisterKernels.cpp has the same text and is not compiled again.
    """
    if not kernels:
        return source.fill("nothing.cpp", what="Defines a name for each registered kernel", why=_NOTHING)
    defined = (f"char {_registered_name(boxed.operator.name, key)};\n" for boxed in kernels for key in boxed.keys)
    return source.fill(
        "RegisteredNames.cpp", registered_namespace=_REGISTERED_NAMESPACE, registered_names="".join(defined)
    )


def _registered_name(operator: str, key: str) -> str:
    """Returns the name that a library defines for a registered kernel: `aten__add__out__for_any`."""
    key = "any" if key == kernel_keys.DEFAULT else key.removeprefix("v1/").replace("|", "__")
    parts = re.findall(r"\w+", operator)
    name = "__".join(parts)  # `add.out` and `add_out` are different operators
    if any(re.search(r"__|^_|_$", part) for part in parts):
        # `a.b` and `a__b` are different operators, too.
        name += "__" + "_".join(str(len(part)) for part in parts)
    return re.sub(r"\W", "_", f"{name}__for_{key}")
