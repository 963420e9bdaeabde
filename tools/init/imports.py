"""Finds the imports of a model's file: packages, and files in the same folder."""

from __future__ import annotations

import ast
import dataclasses
import importlib.metadata
import pathlib
import sys

# Packages with other names than their modules.
_PACKAGES = {
    "PIL": "pillow",
    "absl": "absl-py",
    "cv2": "opencv-python-headless",
    "ruamel": "ruamel.yaml",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


class ModelError(Exception):
    """The model's file has a mistake. The message describes the mistake."""


@dataclasses.dataclass(frozen=True)
class Imports:
    """The imports of a file, and of imported files in the same folder.

    Attributes:
        packages: the distributions, with pip's names.
        files: the names of imported files in the model's folder.
    """

    packages: tuple[str, ...]
    files: tuple[str, ...]


def parse(file: pathlib.Path) -> ast.Module:
    """Reads a Python file.

    Raises:
        ModelError: the file does not exist, or has a syntax error.
    """
    try:
        return ast.parse(file.read_text(), file.name)
    except SyntaxError as error:
        raise ModelError(f"{file.name}:{error.lineno}: error: {error.msg}") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{file}: error: {getattr(error, 'strerror', None) or error}") from error


def defines(module: ast.Module, name: str) -> bool:
    """Returns whether a file defines or imports a name at the top level."""
    for statement in module.body:
        match statement:
            case ast.FunctionDef() | ast.ClassDef():
                found = statement.name == name
            case ast.Import() | ast.ImportFrom():
                found = any((alias.asname or alias.name) == name for alias in statement.names)
            case ast.Assign():
                found = any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)
            case _:
                found = False
        if found:
            return True
    return False


def _modules(module: ast.Module) -> set[str]:
    """Returns the top-level modules of a file's imports."""
    found = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


def _package(module: str) -> str:
    if module in _PACKAGES:
        return _PACKAGES[module]
    installed = set(importlib.metadata.packages_distributions().get(module, ()))
    return installed.pop().lower() if len(installed) == 1 else module


def of(file: pathlib.Path) -> Imports:
    """Returns the imports of a file.

    Raises:
        ModelError: a file has a syntax error.
    """
    packages: set[str] = set()
    files: set[str] = set()
    left = [file]
    while left:
        for module in _modules(parse(left.pop())):
            beside = file.with_name(f"{module}.py")
            if not beside.exists():
                packages.add(_package(module))
            elif beside.name not in files and beside != file:
                files.add(beside.name)
                left.append(beside)
    return Imports(tuple(sorted(packages)), tuple(sorted(files)))
