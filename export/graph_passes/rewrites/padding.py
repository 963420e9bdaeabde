"""Moves zero padding into the convolution after it."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, zero_padding
from export.graph_passes.calls import ConstantPadNd, Convolution
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _rewrite(_: ExportedProgram, node: Node, convolution: Convolution[Node]) -> Change | None:
    known = fused_convolutions.of(node)  # None for a transposed convolution, whose padding removes elements.
    pad = ConstantPadNd.of(convolution.input)
    zeros = zero_padding.widths(pad, len(convolution.stride)) if pad else None
    # PyTorch's convolution pads both ends of a dimension by the same width.
    if known is None or pad is None or zeros is None or zeros[0] != zeros[1]:
        return None
    padding = tuple(old + new for old, new in zip(known.padding, zeros[0], strict=True))
    convolution.replace(input=pad.input, padding=padding).write(node)
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
