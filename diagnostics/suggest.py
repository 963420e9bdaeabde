"""Suggests names similar to an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

_MAX_SUGGESTIONS = 3
# A comparison takes time in proportion to the product of two lengths. Real names are shorter than this.
_MAX_NAME = 500


def nearest(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Returns the candidates with the most similar spelling, best first, at most three."""
    if len(name) > _MAX_NAME:
        return ()
    return tuple(difflib.get_close_matches(name, sorted(set(candidates)), _MAX_SUGGESTIONS, cutoff=0.7))


def nearest_operators(name: str, candidates: Collection[str], *, misspelled: bool = True) -> tuple[str, ...]:
    """Returns the operators that were probably meant by `name`, best first, at most three.

    Looks for operators with another namespace or overload first, and then for a similar spelling.

    Args:
        name: the operator's name.
        candidates: the names of the known operators.
        misspelled: whether the name may be misspelled. For a known operator, such as `ne`, an operator with a similar
            spelling, such as `neg`, is no suggestion.
    """
    namespace, base, overload = _parts(name)
    by_base: dict[str, list[str]] = {}
    for candidate in candidates:
        by_base.setdefault(_parts(candidate)[1], []).append(candidate)

    def differences(candidate: str) -> tuple[bool, bool, str]:
        other_namespace, _, other_overload = _parts(candidate)
        return other_overload != overload, other_namespace != (namespace or "aten"), candidate

    found = [base] if base in by_base else nearest(base, by_base) if misspelled else ()
    return tuple(c for b in found for c in sorted(by_base[b], key=differences) if c != name)[:_MAX_SUGGESTIONS]


def _parts(name: str) -> tuple[str, str, str]:
    """Returns an operator's namespace, name and overload. Each may be empty."""
    namespace, _, unqualified = name.rpartition("::")
    base, _, overload = unqualified.partition(".")
    return namespace, base, overload


def did_you_mean(names: Sequence[str]) -> str:
    """Returns a phrase to append to a sentence: `; did you mean a, b?`; empty without names."""
    return f"; did you mean {', '.join(names)}?" if names else ""
