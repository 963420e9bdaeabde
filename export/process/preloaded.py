"""Detects whether a worker's early import of PyTorch would differ for a model's import folders.

A process that exports one model puts the model's folders first in the search path, and then imports PyTorch. A worker
imports PyTorch before any model's folders are known. Both give the same export only if the imports have the same result
with the model's folders in the search path. The folders may contain another PyTorch, a module of a name that PyTorch
imports, or an optional package that PyTorch uses.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.metadata
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


class Preloaded:
    """The modules that functions imported, and the modules and packages that they looked up without success."""

    def __init__(self) -> None:
        self._before = set(sys.modules)
        self._groups: set[str] = set()
        self._lists_packages = False
        self._missing: set[str] = set()
        self._distributions: set[str] = set()
        self._packages: set[str] = set()
        self._versions: list[tuple[str, int, int]] = []

    def load(self, load: Callable[[], object]) -> None:
        """Calls a function that imports modules. May be called several times."""
        sought = _Sought()
        entry_points, packages = importlib.metadata.entry_points, importlib.metadata.packages_distributions

        def noting_groups(**selection: str) -> object:
            self._groups.add(selection.get("group", ""))
            return entry_points(**selection)

        def noting_lists() -> Mapping[str, list[str]]:
            self._lists_packages = True
            return packages()

        sys.meta_path.append(sought)
        importlib.metadata.entry_points = noting_groups  # type: ignore[assignment]
        importlib.metadata.packages_distributions = noting_lists
        # The modules stay alive, so the collector can skip them. In a forked process, the collector would write to the
        # objects, and the system would copy their memory pages.
        gc.disable()
        load()
        gc.freeze()
        gc.enable()
        importlib.metadata.entry_points, importlib.metadata.packages_distributions = entry_points, packages
        sys.meta_path.remove(sought)
        self._files = {
            name: os.path.realpath(getattr(module, "__file__", None) or "")
            for name, module in sys.modules.items()
            if name not in self._before and _is_of_search_path(name) and _is_found(module)
        }
        missing = self._missing | {name for name in sought.modules if _is_of_search_path(name)}
        self._missing = missing - sys.modules.keys()
        self._distributions |= sought.distributions
        if not self._packages:
            self._packages = {str(distribution.locate_file("")) for distribution in importlib.metadata.distributions()}
            self._versions = _versions(self._packages)

    def would_differ(self, folders: Sequence[str]) -> bool:
        """Returns whether the imports would have other results with these folders first in the search path."""
        return (
            # Bazel starts a new worker when packages change. Without Bazel, packages may change in place.
            _versions(self._packages) != self._versions
            or any(self._is_replaced(name, folders) for name in self._files)
            or any(_find(name, folders) for name in self._missing)
            or any(self._is_used(distribution) for distribution in importlib.metadata.distributions(path=[*folders]))
        )

    def _is_replaced(self, name: str, folders: Sequence[str]) -> bool:
        spec = _find(name, folders)
        # A folder without __init__.py does not replace a module. A namespace package finds new folders by itself.
        return spec is not None and spec.origin is not None and os.path.realpath(spec.origin) != self._files[name]

    def _is_used(self, distribution: importlib.metadata.Distribution) -> bool:
        if self._lists_packages:
            return True
        name = distribution.metadata["Name"] or ""
        groups = {entry_point.group for entry_point in distribution.entry_points}
        # A lookup of entry points without a group returns the plugins of all groups.
        asked_for = groups if "" in self._groups else groups & self._groups
        return bool(asked_for) or _normalized(name) in self._distributions


class _Sought(importlib.abc.MetaPathFinder):
    """The last finder on sys.meta_path. Records modules that no finder has, and distributions looked up by name."""

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
    """Returns whether Python looks up a module along the search path, not only in the folder of a package."""
    parents = name.split(".")[:-1]
    return all(_is_namespace(sys.modules.get(".".join(parents[:count]))) for count in range(1, len(parents) + 1))


def _is_namespace(module: ModuleType | None) -> bool:
    """Returns whether a module is a namespace package, whose folders may be anywhere on the search path."""
    return module is not None and hasattr(module, "__path__") and getattr(module, "__file__", None) is None


def _is_found(module: ModuleType) -> bool:
    """Returns whether a module was found in a folder. Built-in and frozen modules, and synthetic ones, were not."""
    spec = getattr(module, "__spec__", None)
    return spec is not None and spec.origin not in ("built-in", "frozen")


def _find(name: str, folders: Sequence[str]) -> ModuleSpec | None:
    parents = name.split(".")[:-1]
    return PathFinder.find_spec(name, [os.path.join(folder, *parents) for folder in folders])


def _versions(folders: Iterable[str]) -> list[tuple[str, int, int]]:
    """Returns the inodes and modification times of folders, which change when a package is installed or removed."""
    found = [(folder, os.stat(folder)) for folder in sorted(folders) if os.path.isdir(folder)]
    return [(folder, status.st_ino, status.st_mtime_ns) for folder, status in found]


def _normalized(distribution: str) -> str:
    return distribution.lower().replace("-", "_").replace(".", "_")
