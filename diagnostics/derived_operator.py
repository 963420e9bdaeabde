"""The finding for an operator that one library derives from the out variant and other code defines, too."""

from __future__ import annotations

import re

from diagnostics.errors import Finding, Location

# The origin of a derived operator in PyTorch's messages. runtime/torch/torch_operators.cpp registers this text.
_ORIGIN = re.compile(r"registered at (\S+), which derives the operator from ")
# PyTorch's error for a second definition of an operator.
_REFUSED = re.compile(r"Tried to register an operator \(([\w:.]+)\(.*Original registration: (.*)", re.DOTALL)


def derived_by(text: str) -> str | None:
    """Returns the label of the library that derives the operator in a message of PyTorch; None if not derived."""
    match = _ORIGIN.search(text)
    return match[1] if match else None


def refused(text: str) -> tuple[str, str] | None:
    """Returns the operator of a refused second definition, and the label of the deriving library; None otherwise."""
    match = _REFUSED.search(text)
    library = derived_by(match[2]) if match else None
    return (match[1], library) if match and library else None


def finding(where: Location | str, operator: str, definer: str, library: str, details: tuple[str, ...] = ()) -> Finding:
    """Returns the finding for an operator with two definitions.

    Args:
        where: the target or place that loads both.
        operator: the operator's name.
        definer: the code that defines the operator.
        library: the label of the library that derives the operator.
        details: more lines to show.
    """
    return Finding(
        where,
        f"{definer} defines {operator}, which {library} has derived from the operator's out variant; PyTorch lets an "
        "operator be defined once",
        "the library defines all operators of its YAML, and for an out variant the operator without out arguments.",
        f"set custom_ops_functional_variants = False in {library}, or in the executorch_generated_lib that makes it; "
        "or leave the other definition out.",
        details,
        id="derived-operator",
    )
