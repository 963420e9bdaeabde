"""Moves zero padding into the convolution after it, also if the two ends of a dimension have different widths."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs, zero_padding
from export.graph_passes.calls import ConstantPadNd, Convolution
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _rewrite(_: ExportedProgram, node: Node, call: Convolution[Node]) -> Change | None:
    convolution = fused_convolutions.of(node)  # None for a transposed convolution, whose padding removes elements.
    pad = ConstantPadNd.of(call.input)
    widths = zero_padding.widths(pad, len(call.stride)) if pad else None
    if convolution is None or pad is None or widths is None:
        return None
    before, behind = widths
    layer = convolution.replace(
        input=pad.input,
        padding=tuple(own + more for own, more in zip(convolution.padding, before, strict=True)),
        end_padding=tuple(own + more for own, more in zip(convolution.end_padding, behind, strict=True)),
    )
    graphs.replace(node, layer.insert(node, graphs.value(node)))
    return Change(call.input, "zeros that a convolution pads itself")


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
