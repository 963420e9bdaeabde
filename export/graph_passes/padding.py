"""Has convolutions pad what a call before them pads with zeros."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for convolution in graphs.calls(program, _ATEN.convolution.default):
        pad = convolution.args[0]
        padding = _padding(pad, len(convolution.args[3])) if isinstance(pad, Node) else None
        if padding is None or convolution.args[6]:  # A transposed convolution's padding takes away.
            continue
        changes.append(Change.of(pad, "zeros that a convolution pads itself"))
        sums = [old + new for old, new in zip(convolution.args[4], padding, strict=True)]
        convolution.args = (pad.args[0], *convolution.args[1:4], sums, *convolution.args[5:])
    graphs.finish(program)
    return changes


def _padding(pad: graphs.Call, dimensions: int) -> list[int] | None:
    """What a call adds at both ends of each of the last dimensions; None where it adds anything else."""
    if pad.target is not _ATEN.constant_pad_nd.default or graphs.argument(pad, "value") != 0:
        return None
    widths = list(pad.args[1])
    if not all(isinstance(width, int) and width >= 0 for width in widths):
        return None
    # From the last dimension on: before, after. A kernel's padding is as wide at both ends, and in no other dimension.
    before, after = widths[::2], widths[1::2]
    if before != after or any(before[dimensions:]):
        return None
    padding = before[:dimensions] + [0] * (dimensions - len(before))
    return padding[::-1]


PASS = GraphPass("padding", Stage.LOWERED, _run)
