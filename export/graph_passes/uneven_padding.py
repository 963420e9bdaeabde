"""Has convolutions pad what a call before them pads with zeros, also where both ends of a dimension differ."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs, padding
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for convolution in graphs.calls(program, graphs.EDGE.aten.convolution.default):
        pad = convolution.args[0]
        widths = padding.widths(pad, len(convolution.args[3])) if isinstance(pad, Node) else None
        if widths is None or convolution.args[6]:  # A transposed convolution's padding takes away.
            continue
        changes.append(Change.of(pad, "zeros that a convolution pads itself"))
        before, behind = ([own + more for own, more in zip(convolution.args[4], one, strict=True)] for one in widths)
        layer = fused_convolutions.insert(convolution, pad.args[0], before, behind)
        graphs.replace(convolution, layer)
    graphs.finish(program)
    return changes


PASS = GraphPass("uneven_padding", Stage.LOWERED, _run)
