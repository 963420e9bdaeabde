"""RegisterKernels.cpp and RegisterKernels.h, which give the kernels to the runtime."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.cpp import layout
from codegen.cpp.boxed_kernel import BoxedKernel
from codegen.cpp.source import Source
from codegen.model import kernel_keys
from codegen.model.operators import REGISTERED_NAMESPACE


def at_start(source: Source, kernels: Sequence[BoxedKernel]) -> str:
    """RegisterKernels.cpp of a library that registers its kernels at program start."""
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
    """RegisterKernels.cpp of a library that registers nothing by itself.

    Args:
        source: what the file is made from.
        kernels: the kernels.
        header: how to include RegisterKernels.h.
    """
    return source.fill(
        "RegisterKernelsOnRequest.cpp",
        registration_header=header,
        registered_namespace=REGISTERED_NAMESPACE,
        registered_names=_registered_names(kernels),
    )


def header(source: Source) -> str:
    """RegisterKernels.h of a library that registers nothing by itself."""
    return source.fill("RegisterKernels.h", see="docs/errors.md#same-name-in-cpp")


def _registered_names(kernels: Sequence[BoxedKernel]) -> str:
    """A definition for each kernel that a library registers."""
    return "".join(f"char {_registered_name(boxed.operator.name, key)};\n" for boxed in kernels for key in boxed.keys)


def _registered_name(operator: str, key: str) -> str:
    """What a library defines for a kernel that it registers: `aten__add__out__for_any`."""
    key = "any" if key == kernel_keys.DEFAULT else key.removeprefix("v1/").replace("|", "__")
    parts = re.findall(r"\w+", operator)
    name = "__".join(parts)  # `add.out` is another operator than `add_out`
    if any(re.search(r"__|^_|_$", part) for part in parts):
        # And `a.b` another than `a__b`.
        name += "__" + "_".join(str(len(part)) for part in parts)
    return re.sub(r"\W", "_", f"{name}__for_{key}")
