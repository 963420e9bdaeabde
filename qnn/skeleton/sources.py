"""Generates the sources of an op package for each supported backend."""

from __future__ import annotations

from collections.abc import Sequence

from qnn.opdef.model import OpDef, Package
from qnn.skeleton import cpu, htp

BACKENDS = ("CPU", "HTP")


def interface(backend: str, package: Package, op_defs: Sequence[OpDef], xml_names: Sequence[str]) -> str:
    """Returns the source of a package's interface."""
    form = cpu.interface if backend == "CPU" else htp.interface
    return form(package, op_defs, xml_names)


def op(backend: str, package: Package, op_def: OpDef) -> str:
    """Returns the source of an op, for the user to complete."""
    form = cpu.op if backend == "CPU" else htp.op
    return form(package, op_def)
