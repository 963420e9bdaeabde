"""Treemaps: boxes with areas proportional to numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: the upper left corner and the sides."""

    left: float
    top: float
    width: float
    height: float


def split(weights: Sequence[float], box: Box) -> list[Box]:
    """Divides a box into one box for each weight. The weights are positive, the largest first."""
    if len(weights) <= 1:
        return [box][: len(weights)]
    total = sum(weights)
    # Splits the weights into two parts of about half the total, side by side in a wide box.
    first, middle = weights[0], 1
    while middle < len(weights) - 1 and first + weights[middle] / 2 < total / 2:
        first += weights[middle]
        middle += 1
    share = first / total
    if box.width >= box.height:
        width = box.width * share
        parts = (
            Box(box.left, box.top, width, box.height),
            Box(box.left + width, box.top, box.width - width, box.height),
        )
    else:
        height = box.height * share
        parts = (
            Box(box.left, box.top, box.width, height),
            Box(box.left, box.top + height, box.width, box.height - height),
        )
    return split(weights[:middle], parts[0]) + split(weights[middle:], parts[1])
