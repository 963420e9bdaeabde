"""Values of Starlark's expressions that are not Python's own values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnostics.errors import Location


@dataclass(frozen=True, slots=True)
class Unknown:
    """An unknown value: the expression that gives it, and the place."""

    what: str
    where: Location


@dataclass(frozen=True, slots=True)
class Select:
    """A `select()`: the values by condition, and the place of each condition."""

    values: Mapping[str, Any]
    places: Mapping[str, Location]


@dataclass(frozen=True, slots=True)
class Glob:
    """A `glob()`, which has the same meaning in Bazel and Buck."""

    include: Sequence[str]
    exclude: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of lists, at least one of which is known in a build only."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Code to write to a BUILD file, with the symbol that the file has to load."""

    text: str
    symbol: str


@dataclass(frozen=True, slots=True)
class Namespace:
    """A value with members, such as `runtime`."""

    name: str
    members: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function that is known by name."""

    name: str
    where: Location
    positional: Sequence[Any]
    named: Mapping[str, Any]
    places: Mapping[str, Location]

    def argument(self, name: str, position: int, default: Any = None) -> Any:
        """Returns an argument that is given by name or by position."""
        if name in self.named:
            return self.named[name]
        return self.positional[position] if position < len(self.positional) else default


@dataclass(frozen=True, slots=True)
class Known:
    """A function that is known by name."""

    name: str
    call: Callable[[Call], Any]


def total(left: Any, right: Any) -> Any:
    """Returns `left + right` if one of them is known in a build only."""
    parts = [part for side in (left, right) for part in (side.parts if isinstance(side, Sum) else (side,))]
    if any(isinstance(part, str | bool | int) for part in parts):
        raise TypeError("a text that only the build knows")
    return Sum(tuple(list(part) if isinstance(part, tuple) else part for part in parts))
