"""Has convolutions pad what a call before them pads with zeros."""

from __future__ import annotations

from torch.export import ExportedProgram

from export.graph_passes import fused_convolutions, zero_padding
from export.graph_passes.calls import ConstantPadNd, Convolution
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    for node, convolution in Convolution.each(sites):
        known = fused_convolutions.of(node)  # A transposed convolution's padding takes away.
        pad = ConstantPadNd.of(convolution.input)
        zeros = zero_padding.widths(pad, len(convolution.stride)) if pad else None
        # A kernel's padding is as wide at both ends.
        if known is None or pad is None or zeros is None or zeros[0] != zeros[1]:
            continue
        changes.append(Change.of(convolution.input, "zeros that a convolution pads itself"))
        padding = tuple(old + new for old, new in zip(known.padding, zeros[0], strict=True))
        convolution.replace(input=pad.input, padding=padding).write(node)
    return changes


PASS = GraphPass(
    "padding",
    Stage.LOWERED,
    _run,
    reference="has a convolution pad what `constant_pad_nd` before it pads with zeros, as wide at both ends",
    is_default=True,
)
