"""Moves zero padding into the convolution after it, also if the two ends of a dimension have different widths."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, zero_padding
from export.graph_passes.calls import Convolution
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _rewrite(_: ExportedProgram, node: Node, convolution: Convolution[Node]) -> Change | None:
    fused = zero_padding.taken_in(node, convolution)
    if fused is None:
        return None
    graphs.replace(node, fused.insert(node, graphs.value(node)))
    return Change(convolution.input, "zeros that a convolution pads itself")


PASS = GraphPass(
    "uneven_padding",
    Stage.LOWERED,
    roots=(Convolution,),
    rewrite=_rewrite,
    reference=(
        "moves the zero padding of a `constant_pad_nd` into the convolution after it, as "
        "`rules_executorch::fused_convolution.out`, which pads the two ends of a dimension by different widths"
    ),
    after=("padding", "quantized_layers"),
)
