"""Keeps linear layers whole. The kernel reads the weight of [output features, input features] without a transposition.

ExecuTorch's own lowering decomposes a linear layer into a permutation of the weight and a matrix product.
"""

from __future__ import annotations

from export.graph_passes.calls import Linear
from export.graph_passes.graph_pass import Change, GraphPass, Stage

PASS = GraphPass(
    "linear",
    Stage.EXPORTED,
    roots=(Linear,),
    rewrite=lambda _, node, __: Change(node, "a linear layer kept whole"),
    reference="keeps `linear` whole, as `aten::linear.out`, so that the program transposes no weight",
    preserved=(Linear.overload(),),
)
