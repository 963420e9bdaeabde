"""What to say about operators and kernels that are asked for and that nothing provides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from codegen.model import aten_operators, kernel_keys, prim_ops
from diagnostics import suggest
from diagnostics.errors import Finding, Location

# The kernels that the executorch wheel brings compiled, by the namespace of their operators.
_PREBUILT = {
    "aten": "@rules_executorch//runtime:kernels_optimized",
    "quantized_decomposed": "@rules_executorch//runtime:kernels_quantized",
}
# How a library of portable kernels gets this repository's others, by the namespace of their operators.
_OWN = {
    "quantized_decomposed": "add @rules_executorch//kernels/quantized:operators to kernel_deps of the library",
    "rules_executorch": "give the library @rules_executorch//kernels/optimized:operators in kernel_deps, in place of "
    "those of kernels/portable",
}
# How many declared kernels an error lists.
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
    """An operator that is missing.

    Args:
        name: the operator's full name.
        asked_by: the labels of the targets or models that want it.
        provided: the names of the operators that there are.
        providers: what provides them, for the sentence.
        where: the label of what is being built.
        fixes: what to do, one or another.
        is_called: whether a program calls the operator: the name is that of an operator then.
        details: what else to say.
    """
    labels = ", ".join(sorted(asked_by))
    # Of the runtime's own operators, those of the same name: executorch_prim::add.Scalar is nobody's aten::add.
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
    """The library of ExecuTorch's own kernels that may have an operator."""
    return _PREBUILT.get(name.partition("::")[0])


def own_kernels(name: str, provided: Collection[str]) -> str | None:
    """How a library gets this repository's kernels for an operator, if it has none of that namespace."""
    namespace = name.partition("::")[0]
    is_there = any(other.partition("::")[0] == namespace for other in provided)
    return None if is_there else _OWN.get(namespace)


def is_pytorchs(name: str) -> bool:
    """Whether PyTorch has an operator of this name, whatever its overload."""
    return name.partition(".")[0] in {known.partition(".")[0] for known in aten_operators.names()}


def unmatched_keys(declared: Iterable[str], calls: Iterable[str]) -> list[str]:
    """The keys of calls that no kernel is for by itself, given the keys of the kernels."""
    return sorted({*calls} - {kernel_keys.DEFAULT, *declared})


def kernel(
    operator: str, keys: Sequence[str], declared: Sequence[str], asked_by: Iterable[str], where: Location | str
) -> Finding:
    """Calls of an operator that no kernel is for.

    Args:
        operator: the operator's full name.
        keys: the calls' kernel keys.
        declared: the kernel keys that there are; `default` is not among them.
        asked_by: the labels of the targets or models that make the calls.
        where: the place or label to name.
    """
    details = ["needed for:", *(f"  {kernel_keys.readable(key)}" for key in keys)]
    details += ["declared for:", *(f"  {kernel_keys.readable(key)}" for key in declared[:_MAX_DECLARED])]
    if len(declared) > _MAX_DECLARED:
        details.append(f"  and {len(declared) - _MAX_DECLARED} more")
    return Finding(
        id="missing-kernel-key",
        where=where,
        found=f"{operator} has no kernel for dtypes and dim orders that {', '.join(sorted(asked_by))} calls it with",
        cause="each kernel of the operator is for certain dtypes and dim orders, and none is for all others",
        fix="add a kernel with 'arg_meta: null' to the operator in the YAML, or one for what is needed",
        details=tuple(details),
    )
