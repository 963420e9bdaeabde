"""Moves zero padding into the convolution after it."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import zero_padding
from export.graph_passes.calls import Convolution
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _rewrite(_: ExportedProgram, node: Node, convolution: Convolution[Node]) -> Change | None:
    fused = zero_padding.taken_in(node, convolution)
    # PyTorch's convolution pads both ends of a dimension by the same width.
    if fused is None or fused.padding != fused.end_padding:
        return None
    convolution.replace(input=fused.input, padding=fused.padding).write(node)
    return Change(convolution.input, "zeros that a convolution pads itself")


PASS = GraphPass(
    "padding",
    Stage.LOWERED,
    roots=(Convolution,),
    rewrite=_rewrite,
    reference=(
        "moves the zero padding of a `constant_pad_nd` into the convolution after it, if both ends of each dimension "
        "have the same width"
    ),
    is_default=True,
)
