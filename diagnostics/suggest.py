"""Names near to one that was not found."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

_MAX_SUGGESTIONS = 3
# Comparing takes the product of two lengths, and nothing so long is a name.
_MAX_NAME = 500


def nearest(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The candidates spelled most like `name`, best first, at most three."""
    if len(name) > _MAX_NAME:
        return ()
    return tuple(difflib.get_close_matches(name, sorted(set(candidates)), _MAX_SUGGESTIONS, cutoff=0.7))


def nearest_operators(name: str, candidates: Collection[str], *, misspelled: bool = True) -> tuple[str, ...]:
    """The operators that `name` may stand for, best first, at most three.

    Looks for what is usually forgotten or wrong, the namespace and the overload, and then for similar spelling.

    Args:
        name: the operator's name.
        candidates: the names of the operators that there are.
        misspelled: whether the name may be misspelled. Of an operator that is known, such as `ne`, one that is merely
            spelled like it, such as `neg`, is another.
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
    """An operator's namespace, name and overload, of which any may be empty."""
    namespace, _, unqualified = name.rpartition("::")
    base, _, overload = unqualified.partition(".")
    return namespace, base, overload


def did_you_mean(names: Sequence[str]) -> str:
    """A phrase to append to a sentence: `; did you mean a, b?`, or nothing when there are no names."""
    return f"; did you mean {', '.join(names)}?" if names else ""
