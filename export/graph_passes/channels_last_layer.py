"""What an operator says that works on channels-last tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch.fx import Node


@dataclass(frozen=True)
class Layer:
    """How a call works on channels-last tensors.

    Attributes:
        inputs: the tensors that the call reads channels-last.
        products: the multiplications of a call, by which is judged what the format is worth.
        insert: puts the new call in front of the old one. The new call reads `inputs`, which the function gets in
            their new order, and gives one channels-last tensor.
        takes_contiguous: whether the new call reads contiguous inputs as well, and as fast.
    """

    inputs: tuple[Node, ...]
    products: int
    insert: Callable[[Sequence[Node]], Node]
    takes_contiguous: bool = False
