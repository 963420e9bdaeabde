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
        zeros = widths(pad, len(convolution.args[3])) if isinstance(pad, Node) else None
        # A kernel's padding is as wide at both ends. A transposed convolution's takes away.
        if zeros is None or zeros[0] != zeros[1] or convolution.args[6]:
            continue
        changes.append(Change.of(pad, "zeros that a convolution pads itself"))
        sums = [old + new for old, new in zip(convolution.args[4], zeros[0], strict=True)]
        convolution.args = (pad.args[0], *convolution.args[1:4], sums, *convolution.args[5:])
    graphs.finish(program)
    return changes


def widths(pad: graphs.Call, dimensions: int) -> tuple[list[int], list[int]] | None:
    """The zeros that a call adds before and behind each of the last dimensions; None where it adds anything else."""
    if pad.target is not _ATEN.constant_pad_nd.default or graphs.argument(pad, "value") != 0:
        return None
    given = list(pad.args[1])
    if not all(isinstance(width, int) and width >= 0 for width in given):
        return None
    # From the last dimension on: before, behind.
    before, behind = given[::2], given[1::2]
    if any(before[dimensions:]) or any(behind[dimensions:]):
        return None
    missing = [0] * (dimensions - len(before))
    return (before[:dimensions] + missing)[::-1], (behind[:dimensions] + missing)[::-1]


PASS = GraphPass("padding", Stage.LOWERED, _run)
