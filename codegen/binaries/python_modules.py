"""Which Python extension modules a shared library is, by the functions that initialize them."""

from __future__ import annotations

from collections.abc import Iterable

_PREFIX = "PyInit_"


def initialized_by(names: Iterable[str]) -> list[str]:
    """The modules, without their packages, that a library with functions of these names initializes."""
    return sorted(name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX))
