"""Modules that are imported before it is known in which folders a model's imports are looked up first.

A process that exports one model puts the model's folders in front of the tool's and then imports PyTorch. A worker has
imported PyTorch before. Both export the same only if the imports come out the same with the model's folders in front.
These may hold another PyTorch, a module of a name that PyTorch's modules import, or a package that PyTorch uses if it
is there. This module finds that out.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.metadata
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class Preloaded:
    """What a function imported, and what it looked for in vain."""

    def __init__(self, load: Callable[[], object]) -> None:
        before = set(sys.modules)
        sought = _Sought()
        groups: set[str] = set()
        entry_points = importlib.metadata.entry_points

        def noting_groups(**selection: str) -> object:
            groups.add(selection.get("group", ""))
            return entry_points(**selection)

        sys.meta_path.append(sought)
        importlib.metadata.entry_points = noting_groups  # type: ignore[assignment]
        # Modules stay: the collector need not look at them. In a forked process, its marks would copy their memory.
        gc.disable()
        load()
        gc.freeze()
        gc.enable()
        importlib.metadata.entry_points = entry_points
        sys.meta_path.remove(sought)
        self._files = {
            name: os.path.realpath(getattr(module, "__file__", None) or "")
            for name, module in sys.modules.items()
            if name not in before and _is_of_search_path(name) and _is_found(module)
        }
        self._missing = {name for name in sought.modules if name not in sys.modules and _is_of_search_path(name)}
        self._distributions = sought.distributions
        self._groups = groups
        self._packages = {str(distribution.locate_file("")) for distribution in importlib.metadata.distributions()}
        self._versions = _versions(self._packages)

    def would_differ(self, folders: Sequence[str]) -> bool:
        """Whether the imports would come out otherwise now, with these folders in front of the search path."""
        return (
            # Bazel starts another worker when it installs packages; by hand, packages may change in place.
            _versions(self._packages) != self._versions
            or any(self._is_replaced(name, folders) for name in self._files)
            or any(_find(name, folders) for name in self._missing)
            or any(self._is_used(distribution) for distribution in importlib.metadata.distributions(path=[*folders]))
        )

    def _is_replaced(self, name: str, folders: Sequence[str]) -> bool:
        spec = _find(name, folders)
        # Mere folders replace nothing: a package takes them up by itself, if it is made of such.
        return spec is not None and spec.origin is not None and os.path.realpath(spec.origin) != self._files[name]

    def _is_used(self, distribution: importlib.metadata.Distribution) -> bool:
        name = distribution.metadata["Name"] or ""
        groups = {entry_point.group for entry_point in distribution.entry_points}
        # Who names no group asks for all plugins.
        asked_for = groups if "" in self._groups else groups & self._groups
        return bool(asked_for) or _normalized(name) in self._distributions


class _Sought(importlib.abc.MetaPathFinder):
    """The last that Python asks for a module: notes those that nobody has, and packages that are asked for by name."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.distributions: set[str] = set()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        self.modules.add(fullname)

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context | None = None
    ) -> Iterable[importlib.metadata.Distribution]:
        if context and context.name:
            self.distributions.add(_normalized(context.name))
        return ()


def _is_of_search_path(name: str) -> bool:
    """Whether a module is looked up along the search path, and not in one package's folder alone."""
    parents = name.split(".")[:-1]
    return all(_is_namespace(sys.modules.get(".".join(parents[:count]))) for count in range(1, len(parents) + 1))


def _is_namespace(module: ModuleType | None) -> bool:
    """Whether a package has no file: its modules lie in folders of its name anywhere on the search path."""
    return module is not None and hasattr(module, "__path__") and getattr(module, "__file__", None) is None


def _is_found(module: ModuleType) -> bool:
    """Whether a module was looked up in folders at all: not part of Python itself, or made by another module."""
    spec = getattr(module, "__spec__", None)
    return spec is not None and spec.origin not in ("built-in", "frozen")


def _find(name: str, folders: Sequence[str]) -> ModuleSpec | None:
    parents = name.split(".")[:-1]
    return PathFinder.find_spec(name, [os.path.join(folder, *parents) for folder in folders])


def _versions(folders: Iterable[str]) -> list[tuple[str, int, int]]:
    """What changes when a package is installed in one of the folders, or removed."""
    found = [(folder, os.stat(folder)) for folder in sorted(folders) if os.path.isdir(folder)]
    return [(folder, status.st_ino, status.st_mtime_ns) for folder, status in found]


def _normalized(distribution: str) -> str:
    return distribution.lower().replace("-", "_").replace(".", "_")
