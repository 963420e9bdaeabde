"""Generates the Python module that loads an operator library into PyTorch when the module is imported."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from string import Template

from codegen.checks import torch_namespaces
from codegen.model.torch_library import LIBRARY, TorchLibrary

# The placeholder for the place of the first definition.
_OTHER = "{other}"


def write(path: str, library: str, manifest: TorchLibrary, *, is_extension: bool = False) -> None:
    """Writes the module.

    Args:
        path: the path of the module.
        library: the name of the library's file, which is in the folder of the module.
        manifest: the library's registrations.
        is_extension: whether the library is also a Python extension module of the module's name.
    """
    defined = {
        r.namespace: str(torch_namespaces.duplicate(manifest.label, r.namespace, [_OTHER, manifest.place(r)]))
        for r in manifest.registrations
        if r.kind == LIBRARY
    }
    module = _template("torch_loader.py.template").substitute(
        label=json.dumps(manifest.label)[1:-1],
        quoted_label=repr(manifest.label),
        namespaces=", ".join(manifest.namespaces()),
        library=repr(library),
        defined=defined,
        other=_OTHER,
        # The code generator runs under the Python that the packages are installed for.
        python=tuple(sys.version_info[:2]),
    )
    if is_extension:
        module += _template("torch_extension.py.template").template
    Path(path).write_text(module)


@functools.cache
def _template(name: str) -> Template:
    return Template(Path(__file__).with_name(name).read_text())
