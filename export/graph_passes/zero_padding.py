"""Moves zero padding into convolutions."""

from __future__ import annotations

from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs
from export.graph_passes.calls import ConstantPadNd, Convolution, FusedConvolution


def taken_in(node: Node, convolution: Convolution[Node]) -> FusedConvolution[Node] | None:
    """Returns a convolution that also adds the zeros of the call before it; None if there is no such call."""
    known = fused_convolutions.of(node)  # None for a transposed convolution, whose padding removes elements.
    pad = ConstantPadNd.of(convolution.input)
    widths = _widths(pad, len(convolution.stride)) if pad else None
    if known is None or pad is None or widths is None:
        return None
    before, behind = (
        tuple(old + new for old, new in zip(own, more, strict=True))
        for own, more in zip((known.padding, known.end_padding), widths, strict=True)
    )
    return known.replace(input=pad.input, padding=before, end_padding=behind)


def _widths(pad: ConstantPadNd[Node], dimensions: int) -> tuple[list[int], list[int]] | None:
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
