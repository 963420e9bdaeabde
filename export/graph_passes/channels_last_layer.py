"""The description of a layer for the pass channels_last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch.fx import Node


@dataclass(frozen=True)
class Layer:
    """A call that can be replaced by a call on channels-last tensors.

    Attributes:
        inputs: the tensors that the new call reads channels-last.
        products: the number of multiplications of the call, which the pass weighs against the cost of copies.
        insert: inserts the new call before the old one. The function gets `inputs` in channels-last order. The new call
            gives one channels-last tensor.
        takes_contiguous: whether the new call also reads contiguous inputs, at the same speed.
    """

    inputs: tuple[Node, ...]
    products: int
    insert: Callable[[Sequence[Node]], Node]
    takes_contiguous: bool = False
