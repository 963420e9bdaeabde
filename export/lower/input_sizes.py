"""Refuses inputs whose sizes have no upper bound.

ExecuTorch would plan the memory for the sizes of the example inputs, and the program would refuse larger inputs.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils._sympy.numbers import int_oo

from diagnostics.errors import Finding, InputError
from export.user.model_file import Method


def check(method: Method, exported: ExportedProgram) -> None:
    """Checks the sizes of the inputs of a method.

    Raises:
        InputError: a size has no upper bound. The error has a finding for each.
    """
    findings = []
    specs = exported.graph_signature.input_specs
    for spec, node in zip(specs, exported.graph.find_nodes(op="placeholder"), strict=True):
        value = node.meta.get("val")
        if spec.kind is not InputKind.USER_INPUT or not isinstance(value, torch.Tensor):
            continue
        for dim, size in enumerate(value.shape):
            if not _is_bounded(size):
                findings.append(
                    Finding(
                        method.at,
                        f"the input {spec.arg.name} of {method.name}() has no largest size in dimension {dim}",
                        "get_dynamic_shapes() has a dimension without max. A program has planned memory, so that"
                        " ExecuTorch would take the size of the example inputs for the largest one.",
                        'name the largest size that a run needs, such as torch.export.Dim("n", max=512) or'
                        " torch.export.Dim.AUTO(max=512).",
                        id="unbounded-size",
                    )
                )
    if findings:
        raise InputError(findings)


def _is_bounded(size: int | torch.SymInt) -> bool:
    if not isinstance(size, torch.SymInt):
        return True
    return size.node.shape_env.bound_sympy(size.node.expr).upper is not int_oo
