"""Converts messages of PyTorch and the dynamic linker about a failed load to findings about the library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from diagnostics.errors import Finding, Location

# The message of an uncaught C++ exception, up to PyTorch's stack trace.
_WHAT = re.compile(
    r"what\(\):\s*(.*?)\s*(?:^Exception raised from|^frame #0|^ ?\(originally from|^bash:|\Z)", re.DOTALL | re.MULTILINE
)
_PLACE = re.compile(r"registered at (\S+?):(\d+)")
_UNDEFINED = re.compile(r"undefined symbol: (\w+)")
_LINES = 12


@dataclass(frozen=True, slots=True)
class _Mistake:
    """A mistake that a message of PyTorch identifies, with the id of the finding."""

    pattern: re.Pattern[str]
    found: str
    cause: str
    fix: str
    id: str


_MISTAKES = (
    _Mistake(
        re.compile(r"Inferred operator schema for a C\+\+ kernel function doesn't match|Mismatch in kernel C\+\+"),
        "an operator's schema and its kernel disagree",
        "one of the two was changed without the other; a C++ kernel takes int as int64_t, float as double, Tensor as "
        "const at::Tensor&",
        "make the schema in m.def and the signature of the kernel agree",
        id="schema-mismatch",
    ),
    _Mistake(
        re.compile(r"Tried to register an operator .* with the same name"),
        "an operator is defined twice",
        "two m.def with the same name and overload, in the library or in it and one that it depends on",
        "leave one of them out, or give each an overload name of its own: name.overload(...)",
        id="operator-defined-twice",
    ),
    _Mistake(
        re.compile(r"<--- HERE|expected .* but found"),
        "PyTorch does not accept an operator's schema",
        "a typo in the string of m.def",
        "write it as `name(Type argument, ...) -> Type`",
        id="bad-schema",
    ),
)
_OTHER = _Mistake(
    re.compile(""),
    "the library does not load",
    "a registration, or the initialization of another global object of the library, raised an exception or ended the "
    "process",
    "correct the cause in the message, which comes from PyTorch or from the library itself",
    id="library-does-not-load",
)


def aborted(label: str, how: str, printed: str) -> Finding:
    """Returns the finding for a library that ended the loading process.

    Args:
        label: the library's label.
        how: the end of the process: it aborts, crashes or ends.
        printed: the output of the process.
    """
    match = _WHAT.search(printed)
    message = (match[1] if match else printed).strip() or "the process printed nothing"
    mistake = next((m for m in _MISTAKES if m.pattern.search(message)), _OTHER)
    place = _PLACE.search(message)
    return Finding(
        id=mistake.id,
        where=Location(place[1], int(place[2]), 1) if place else label,
        found=f"{mistake.found}; a process that loads {label} {how}",
        cause=mistake.cause,
        fix=mistake.fix,
        details=tuple(line.rstrip() for line in message.splitlines() if line.strip())[:_LINES],
    )


def refused(label: str, error: str, undefined: Mapping[str, str]) -> Finding:
    """Returns the finding for a library that the dynamic linker refuses.

    Args:
        label: the library's label.
        error: the dynamic linker's message.
        undefined: the undefined symbols of the library, with their demangled names.
    """
    symbol = _UNDEFINED.search(error)
    if symbol:
        name = undefined.get(symbol[1], symbol[1])
        return Finding(
            id="undefined-symbol",
            where=label,
            found=f"the library uses {name}, which neither the library nor PyTorch defines",
            cause="a function that is declared and not defined, or a library that is missing in deps",
            fix="define the function, or add the C++ library that defines the function to deps",
        )
    return Finding(
        id=_OTHER.id,
        where=label,
        found=f"{_OTHER.found}: {error}",
        cause="a shared library that the library needs is missing, or the library is for another processor",
        fix="add the C++ library to deps; libraries are loaded once on the platform that builds",
    )
