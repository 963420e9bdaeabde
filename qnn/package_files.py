"""Reads the XML of a package from the arguments of the tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from diagnostics.errors import InputError
from diagnostics.suggest import did_you_mean, nearest
from qnn.opdef import reader
from qnn.opdef.model import OpDef, Package


def read(paths: Sequence[str], backend: str, label: str) -> tuple[Package, tuple[OpDef, ...]]:
    """Returns the package and its ops for a backend. Prints warnings.

    Args:
        paths: the paths of the XML files.
        backend: the backend.
        label: the label of the target with the files in `config`.

    Raises:
        InputError: the XML has mistakes, or no op for the backend.
    """
    package, odd = reader.read(paths)
    for finding in odd:
        print(finding, file=sys.stderr)
    op_defs = tuple(op_def for op_def in package.op_defs if backend in package.backends(op_def))
    if not op_defs:
        backends = sorted({each for op_def in package.op_defs for each in package.backends(op_def)})
        raise InputError.of(
            label,
            f"{package.name} has no op for {backend}, only for {', '.join(backends)}",
            "the XML was written for another backend",
            f"choose another backend, or add <SupportedBackend>{backend}</SupportedBackend> to ops",
            id="no-op-for-backend",
        )
    return package, op_defs


def op(package: Package, name: str, label: str, attribute: str) -> OpDef:
    """Returns the op that an attribute of a target names.

    Raises:
        InputError: the package has no op of that name.
    """
    if op_def := package.op_def(name):
        return op_def
    names = [op_def.name for op_def in package.op_defs]
    raise InputError.of(
        label,
        f"attribute {attribute} names the op '{name}', which {package.name} does not have"
        f"{did_you_mean(nearest(name, names))}",
        "a typo, or the op was renamed in the XML",
        f"use one of {', '.join(names)}",
        id="unknown-op",
    )


def check_sources(op_defs: Sequence[OpDef], with_source: Sequence[str], label: str) -> None:
    """Checks that all ops have a source, or none has, as before the generation of the sources.

    Raises:
        InputError: some ops have a source, and some have none.
    """
    without = [op_def.name for op_def in op_defs if op_def.name not in with_source]
    if with_source and without:
        raise InputError.of(
            label,
            f"attribute op_srcs has no source for {', '.join(without)}",
            "an op was added to the XML, but not to op_srcs. A library without the op's code would not load",
            f"run {label}.skeleton, which writes the source, and add the source to op_srcs",
            id="op-without-source",
        )


def short_names(paths: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of files without their folders, for comments."""
    return tuple(os.path.basename(path) for path in paths)
