"""Reads calls that pad with zeros."""

from __future__ import annotations

from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import ConstantPadNd


def widths(pad: ConstantPadNd[Node], dimensions: int) -> tuple[list[int], list[int]] | None:
    """Returns the widths of zeros that a call adds before and after each of the last `dimensions` dimensions.

    None if the call adds or removes anything else, or if a size of the input is 0.
    """
    if graphs.is_empty(graphs.value(pad.input)):
        return None  # PyTorch's convolutions refuse images of size 0.
    given = [width for width in pad.pad if isinstance(width, int) and width >= 0]
    if pad.value != 0 or len(given) != len(pad.pad):
        return None
    # Widths from the last dimension to the first: before, after.
    before, behind = given[::2], given[1::2]
    if any(before[dimensions:]) or any(behind[dimensions:]):
        return None
    missing = [0] * (dimensions - len(before))
    return (before[:dimensions] + missing)[::-1], (behind[:dimensions] + missing)[::-1]
