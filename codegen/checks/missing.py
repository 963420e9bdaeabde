"""Findings for requested operators and kernels that no library provides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from codegen.model import aten_operators, kernel_keys, prim_ops
from codegen.model.operators import Kernel
from diagnostics import suggest
from diagnostics.errors import Finding, Location

# The targets of the prebuilt kernels in the executorch wheel, by the namespace of their operators.
_PREBUILT = {
    "aten": "@rules_executorch//runtime:kernels_optimized",
    "quantized_decomposed": "@rules_executorch//runtime:kernels_quantized",
}
# The fix that adds this repository's other kernels to a library, by the namespace of their operators.
_OWN = {
    "quantized_decomposed": "add @rules_executorch//kernels/quantized:operators to kernel_deps of the library",
    "rules_executorch": "give the library @rules_executorch//kernels/optimized:operators in kernel_deps, in place of "
    "those of kernels/portable",
}
# The number of declared kernels that an error lists.
_MAX_DECLARED = 8


def operator(
    name: str,
    *,
    asked_by: Iterable[str],
    provided: Collection[str],
    providers: str,
    where: str,
    fixes: Sequence[str],
    is_called: bool = False,
    details: tuple[str, ...] = (),
) -> Finding:
    """Returns the finding for a missing operator.

    Args:
        name: the operator's full name.
        asked_by: the labels of the targets or models that request the operator.
        provided: the names of the provided operators.
        providers: the providers of the operators, for the message.
        where: the label of the built target.
        fixes: alternative fixes.
        is_called: whether a program calls the operator. The name is then not misspelled.
        details: further lines of the message.
    """
    labels = ", ".join(sorted(asked_by))
    # For executorch_prim::add, suggest overloads of the runtime's own operator, not the similar name aten::add.
    own = tuple(sorted(own for own in prim_ops.PRIM_OPS if own.partition(".")[0] == name.partition(".")[0]))
    near = own or suggest.nearest_operators(name, provided, misspelled=not is_called and not is_pytorchs(name))
    if not name.partition("::")[1]:
        cause = "the operator's namespace was forgotten"
    elif near:
        cause = "a wrong or forgotten overload, a typo, or an operator that the library has no kernel for"
    else:
        cause = "the library has no kernel for the operator"
    return Finding(
        id="missing-operator",
        where=where,
        found=f"{name}{f', which {labels} asks for,' if labels else ''} is not provided by {providers}"
        f"{suggest.did_you_mean(near)}",
        cause=cause,
        fix="; or ".join(fixes),
        details=details,
    )


def prebuilt_kernels(name: str) -> str | None:
    """Returns the target of ExecuTorch's prebuilt kernels for an operator's namespace; None if there is none."""
    return _PREBUILT.get(name.partition("::")[0])


def own_kernels(name: str, provided: Collection[str]) -> str | None:
    """Returns the fix that adds this repository's kernels, unless `provided` has operators of the namespace."""
    namespace = name.partition("::")[0]
    is_there = any(other.partition("::")[0] == namespace for other in provided)
    return None if is_there else _OWN.get(namespace)


def is_pytorchs(name: str) -> bool:
    """Returns whether PyTorch has an operator of this name, with any overload."""
    return name.partition(".")[0] in {known.partition(".")[0] for known in aten_operators.names()}


def unmatched_keys(declared: Iterable[str], calls: Iterable[str]) -> list[str]:
    """Returns the keys of calls for which no kernel is declared, without `default`."""
    return sorted({*calls} - {kernel_keys.DEFAULT, *declared})


def kernel(
    operator: str,
    keys: Sequence[str],
    declared: Sequence[str],
    asked_by: Iterable[str],
    where: Location | str,
    *,
    hidden: Kernel | None = None,
) -> Finding:
    """Returns the finding for calls of an operator without a matching kernel.

    Args:
        operator: the operator's full name.
        keys: the kernel keys of the calls.
        declared: the declared kernel keys, without `default`.
        asked_by: the labels of the targets or models with the calls.
        where: the place or label of the finding.
        hidden: the kernel for all calls that the YAML of a kernel library has; None if there is none.
    """
    fix = "add a kernel with 'arg_meta: null' to the operator in the YAML, or one for what is needed"
    if hidden is not None:
        fix = (
            f"add '- {{arg_meta: null, kernel_name: {hidden.yaml_name}}}', the kernel of {hidden.location.path}, to "
            "the operator's kernels; or add a kernel for what is needed"
        )
    details = ["needed for:", *(f"  {kernel_keys.readable(key)}" for key in keys)]
    details += ["declared for:", *(f"  {kernel_keys.readable(key)}" for key in declared[:_MAX_DECLARED])]
    if len(declared) > _MAX_DECLARED:
        details.append(f"  and {len(declared) - _MAX_DECLARED} more")
    return Finding(
        id="missing-kernel-key",
        where=where,
        found=f"{operator} has no kernel for dtypes and dim orders that {', '.join(sorted(asked_by))} calls it with",
        cause="each kernel of the operator is for certain dtypes and dim orders, and none is for all others",
        fix=fix,
        details=tuple(details),
    )
