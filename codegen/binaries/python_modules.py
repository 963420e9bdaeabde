"""Finds the Python extension modules of a shared library by their initialization functions."""

from __future__ import annotations

from collections.abc import Iterable

_PREFIX = "PyInit_"


def initialized_by(names: Iterable[str]) -> list[str]:
    """Returns the names of the modules, without packages, that have an initialization function among the names."""
    return sorted(name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX))
