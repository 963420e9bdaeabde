"""The Python module that loads an operator library into PyTorch when it is imported."""

from __future__ import annotations

from pathlib import Path

from codegen.checks import torch_namespaces
from codegen.model.torch_library import LIBRARY, TorchLibrary

_LOADER = '''\
"""Loads {label} into PyTorch: to import this module is all that it takes. Generated.

Namespaces: {namespaces}.
"""

import ctypes
import os
import re

import torch

# The file itself, whatever links lead to it: by another path it would be another library to PyTorch.
LIBRARY = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "{library}"))

# The namespaces that it defines as a whole, with what to say where another library has done so.
_DEFINED = {defined}


def _is_loaded() -> bool:
    try:
        ctypes.CDLL(LIBRARY, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return True


def _check(namespace: str, message: str) -> None:
    """Raises where PyTorch would abort: it lets a namespace be defined once."""
    try:
        torch.library.Library(namespace, "DEF")  # Given up at once.
    except RuntimeError as error:
        other = re.search(r"Previous registration of TORCH_LIBRARY was (.*?);", str(error))
        raise ImportError(message.replace("{other}", other[1] if other else str(error)), path=LIBRARY) from None


if not _is_loaded():
    for _namespace, _message in _DEFINED.items():
        _check(_namespace, _message)
torch.ops.load_library(LIBRARY)
'''
# Stands for the definition that came first.
_OTHER = "{other}"


def write(path: str, library: str, manifest: TorchLibrary) -> None:
    """Writes the module.

    Args:
        path: where to.
        library: the name of the library's file, which lies beside the module.
        manifest: what the library registers.
    """
    defined = {
        r.namespace: str(torch_namespaces.duplicate(manifest.label, r.namespace, [_OTHER, manifest.place(r)]))
        for r in manifest.registrations
        if r.kind == LIBRARY
    }
    module = _LOADER.format(
        label=manifest.label,
        namespaces=", ".join(manifest.namespaces()),
        library=library,
        defined=defined,
        other=_OTHER,
    )
    Path(path).write_text(module)
