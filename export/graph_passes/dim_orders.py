"""Copies of images to other orders in memory, by ExecuTorch's operator for dim orders."""

from __future__ import annotations

import torch
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import ToDimOrderCopy

FIRST, LAST = (0, 1, 2, 3), graphs.CHANNELS_LAST


def channels_last(before: Node, image: Node) -> Node:
    """A copy of an image whose pixels have their channels next to each other."""
    value = graphs.value(image).to(memory_format=torch.channels_last)
    return ToDimOrderCopy(image, dim_order=LAST).insert(before, value)


def contiguous(before: Node, image: Node) -> Node:
    """A copy in the order of the indices."""
    return ToDimOrderCopy(image, dim_order=FIRST).insert(before, graphs.value(image).contiguous())
