"""What Starlark's expressions give besides Python's own values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnostics.errors import Location


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that cannot be had here: what gives it, and where."""

    what: str
    where: Location


@dataclass(frozen=True, slots=True)
class Select:
    """A `select()`: the values by condition, and where each condition stands."""

    values: Mapping[str, Any]
    places: Mapping[str, Location]


@dataclass(frozen=True, slots=True)
class Glob:
    """A `glob()`, which Bazel evaluates as Buck does."""

    include: Sequence[str]
    exclude: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """What `+` makes of lists, of which one at least is known to the build only."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A value that a BUILD file spells as it stands here, with a symbol that the file has to load."""

    text: str
    symbol: str


@dataclass(frozen=True, slots=True)
class Namespace:
    """What has members, such as `runtime`."""

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
        """An argument that may be given by name or by position."""
        if name in self.named:
            return self.named[name]
        return self.positional[position] if position < len(self.positional) else default


@dataclass(frozen=True, slots=True)
class Known:
    """A function that is known by name."""

    name: str
    call: Callable[[Call], Any]


def total(left: Any, right: Any) -> Any:
    """`left + right` where one of them is known to the build only."""
    parts = [part for side in (left, right) for part in (side.parts if isinstance(side, Sum) else (side,))]
    if any(isinstance(part, str | bool | int) for part in parts):
        raise TypeError("a text that only the build knows")
    return Sum(tuple(list(part) if isinstance(part, tuple) else part for part in parts))
