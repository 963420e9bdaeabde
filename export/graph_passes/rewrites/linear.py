"""Keeps linear layers whole: the kernel reads a weight as it lies, and nothing is transposed.

ExecuTorch's own lowering makes each a permutation of the weight and a matrix product.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram

from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

_LINEAR = torch.ops.aten.linear.default


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    return [Change.of(node, "a linear layer kept whole") for node in sites.calls(_LINEAR)]


PASS = GraphPass(
    "linear",
    Stage.EXPORTED,
    _run,
    reference="keeps `linear` whole, as `aten::linear.out`: no weight is transposed",
    preserved=(_LINEAR,),
)
