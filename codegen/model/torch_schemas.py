"""Converts schemas of ExecuTorch's operators to schemas of PyTorch's operators, such as functional variants."""

from __future__ import annotations

import re

from codegen.model.schema import FunctionSchema, OperatorName, Return

# PyTorch defines the operators of these namespaces itself. A custom_ops.yaml may still bind kernels to the operators.
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
    """Returns the functional variant of an out variant; None if there is none.

    An operator with a list of out tensors has no functional variant: the caller chooses the length of the list, so the
    number of results is unknown.
    """
    if not function.out or any(str(out.type) != "Tensor" for out in function.out):
        return None
    overload = function.name.overload.removesuffix("_out")
    # The overload of a single out variant is `out` or the name of the results, as in `topk.values`. The functional
    # variant then has no overload.
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
    """Returns a schema without the namespace, as PyTorch's Library takes it, which has one namespace."""
    return str(function).removeprefix(f"{function.name.namespace}::")


def of_cpp_kernel(function: FunctionSchema, name: str) -> str:
    """Returns the schema of a C++ kernel for an operator, under another name.

    PyTorch infers a schema from a C++ kernel and compares the schemas. A kernel has bool for SymBool and int for
    SymInt. PyTorch accepts this difference in arguments only.
    """
    text = str(function).removeprefix(str(function.name))
    return name + re.sub(r"\bSym(Bool|Int)\b", lambda match: match[1].lower(), text)
