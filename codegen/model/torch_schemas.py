"""What an ExecuTorch operator is in PyTorch: where it is defined, and what it is without its out arguments."""

from __future__ import annotations

import re

from codegen.model.schema import FunctionSchema, OperatorName, Return

# PyTorch defines the operators of these namespaces itself. A custom_ops.yaml may bind kernels to them all the same.
RESERVED_NAMESPACES = frozenset(
    [
        "_c10d_functional",
        "_c10d_functional_autograd",
        "_dtensor",
        "_native",
        "_quantized",
        "_test",
        "aten",
        "c10d",
        "debug_mode_ops",
        "debugprims",
        "export",
        "higher_order",
        "inductor",
        "inductor_prims",
        "mkl",
        "mkldnn",
        "mkldnn_prepacked",
        "onednn",
        "prim",
        "prims",
        "profiler",
        "quantization",
        "quantized",
        "rngprims",
        "sparse",
        "static_runtime",
        "symm_mem",
    ]
)


def functional(function: FunctionSchema) -> FunctionSchema | None:
    """The operator that returns what another one writes to its out arguments; None if there is none.

    A list of out tensors has as many as the caller gives, so that nobody knows how many to return.
    """
    if not function.out or any(str(out.type) != "Tensor" for out in function.out):
        return None
    overload = function.name.overload.removesuffix("_out")
    # The overload of an operator with one out variant, `out`, or one named for its results, such as `topk.values`.
    if overload == function.name.overload:
        overload = ""
    return FunctionSchema(
        name=OperatorName(function.name.namespace, function.name.name, overload),
        positional=function.positional,
        keyword_only=function.keyword_only,
        out=(),
        returns=tuple(Return(out.type) for out in function.out),
    )


def unqualified(function: FunctionSchema) -> str:
    """A schema without the namespace of its name, as PyTorch's libraries, which are of one namespace, take it."""
    return str(function).removeprefix(f"{function.name.namespace}::")


def of_cpp_kernel(function: FunctionSchema, name: str) -> str:
    """The schema, under another name, that PyTorch finds to be that of a C++ kernel.

    PyTorch compares the two. A kernel has a bool for a SymBool, and an int for a SymInt, which PyTorch lets pass in
    arguments only.
    """
    text = str(function).removeprefix(str(function.name))
    return name + re.sub(r"\bSym(Bool|Int)\b", lambda match: match[1].lower(), text)
