"""An operator that a library for PyTorch derives from its out variant, and that somebody else defines, too."""

from __future__ import annotations

import re

from diagnostics.errors import Finding, Location

# What runtime/torch/torch_operators.cpp has PyTorch say of the operator's origin.
_ORIGIN = re.compile(r"registered at (\S+), which derives the operator from ")
# What PyTorch says to who defines it once more.
_REFUSED = re.compile(r"Tried to register an operator \(([\w:.]+)\(.*Original registration: (.*)", re.DOTALL)


def derived_by(text: str) -> str | None:
    """The label of the library that derives the operator which a text of PyTorch's is about."""
    match = _ORIGIN.search(text)
    return match[1] if match else None


def refused(text: str) -> tuple[str, str] | None:
    """The operator that PyTorch refuses to define, and the label of the library that derives it; None if none does."""
    match = _REFUSED.search(text)
    library = derived_by(match[2]) if match else None
    return (match[1], library) if match and library else None


def finding(where: Location | str, operator: str, definer: str, library: str, details: tuple[str, ...] = ()) -> Finding:
    """The finding that two define an operator.

    Args:
        where: what loads both.
        operator: its name.
        definer: what defines it by hand.
        library: the label of the library that derives it.
        details: more lines.
    """
    return Finding(
        where,
        f"{definer} defines {operator}, which {library} has derived from the operator's out variant; PyTorch lets an "
        "operator be defined once",
        "the library defines all operators of its YAML, and for an out variant the operator without out arguments.",
        f"set functional_variants = False in {library} (custom_ops_functional_variants = False in the "
        "executorch_generated_lib that makes it), or leave the other definition out.",
        details,
        id="derived-operator",
    )
