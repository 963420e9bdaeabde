"""RegisterKernels.cpp and RegisterKernels.h, which register the kernels with the runtime."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.cpp import layout
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import kernel_keys
from codegen.model.operators import REGISTERED_NAMESPACE


def at_start(source: Source, kernels: Sequence[BoxedKernel]) -> str:
    """Returns RegisterKernels.cpp for a library that registers its kernels at program start."""
    if not kernels:
        why = "No operator is selected, so there is nothing to register."
        return source.fill("nothing.cpp", what="Registers the kernels", why=why)
    return source.fill(
        "RegisterKernels.cpp",
        quoted_label=layout.quoted(source.label),
        registered_namespace=REGISTERED_NAMESPACE,
        registered_names=_registered_names(kernels),
    )


def on_request(source: Source, kernels: Sequence[BoxedKernel], header: str) -> str:
    """Returns RegisterKernels.cpp for a library with manual registration.

    Args:
        source: the library.
        kernels: the kernels.
        header: the include path of RegisterKernels.h.
    """
    return source.fill(
        "RegisterKernelsOnRequest.cpp",
        registration_header=header,
        registered_namespace=REGISTERED_NAMESPACE,
        registered_names=_registered_names(kernels),
    )


def header(source: Source) -> str:
    """Returns RegisterKernels.h for a library with manual registration."""
    return source.fill("RegisterKernels.h", see="docs/errors.md#same-name-in-cpp")


def _registered_names(kernels: Sequence[BoxedKernel]) -> str:
    """Returns a definition for each registered kernel. If two libraries register one kernel, the linker fails."""
    return "".join(f"char {_registered_name(boxed.operator.name, key)};\n" for boxed in kernels for key in boxed.keys)


def _registered_name(operator: str, key: str) -> str:
    """Returns the name that a library defines for a registered kernel: `aten__add__out__for_any`."""
    key = "any" if key == kernel_keys.DEFAULT else key.removeprefix("v1/").replace("|", "__")
    parts = re.findall(r"\w+", operator)
    name = "__".join(parts)  # `add.out` and `add_out` are different operators
    if any(re.search(r"__|^_|_$", part) for part in parts):
        # `a.b` and `a__b` are different operators, too.
        name += "__" + "_".join(str(len(part)) for part in parts)
    return re.sub(r"\W", "_", f"{name}__for_{key}")
