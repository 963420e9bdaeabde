"""The sources of an op package, for each backend that they can be generated for."""

from __future__ import annotations

from collections.abc import Sequence

from qnn.opdef.model import OpDef, Package
from qnn.skeleton import htp

BACKENDS = ("HTP",)


def interface(backend: str, package: Package, op_defs: Sequence[OpDef], xml_names: Sequence[str]) -> str:
    """The source of a package's interface."""
    assert backend == "HTP"
    return htp.interface(package, op_defs, xml_names)


def op(backend: str, package: Package, op_def: OpDef) -> str:
    """The source of an op, for the user to complete."""
    assert backend == "HTP"
    return htp.op(package, op_def)
