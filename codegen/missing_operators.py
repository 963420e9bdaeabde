"""What to say about operators that are asked for and that nothing provides."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from codegen import prim_ops, suggest
from codegen.errors import Finding


def finding(
    name: str, *, asked_by: Iterable[str], provided: Collection[str], providers: str, where: str, fix: str
) -> Finding:
    """An operator that is missing.

    Args:
        name: the operator's full name.
        asked_by: the labels of the targets or models that want it.
        provided: the names of the operators that there are.
        providers: what provides them, for the sentence.
        where: the label of what is being built.
        fix: what to do.
    """
    labels = ", ".join(sorted(asked_by))
    # Of the runtime's own operators, those of the same name: executorch_prim::add.Scalar is nobody's aten::add.
    own = tuple(sorted(own for own in prim_ops.PRIM_OPS if own.partition(".")[0] == name.partition(".")[0]))
    near = own or suggest.nearest_operators(name, provided)
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
        fix=fix,
    )
