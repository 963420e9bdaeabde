"""Keeps linear layers whole. The kernel reads the weight of [output features, input features] without a transposition.

ExecuTorch's own lowering decomposes a linear layer into a permutation of the weight and a matrix product.
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
    reference="keeps `linear` whole, as `aten::linear.out`, so that the program transposes no weight",
    preserved=(_LINEAR,),
)
