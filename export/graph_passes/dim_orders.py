"""Inserts copies of images to another dim order, with ExecuTorch's operator for dim orders."""

from __future__ import annotations

import torch
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import ToDimOrderCopy
from export.user.dense_tensors import channels_last_order

FIRST, LAST = (0, 1, 2, 3), channels_last_order(4)


def channels_last(before: Node, image: Node) -> Node:
    """Inserts a channels-last copy of an image before a node."""
    value = graphs.value(image).to(memory_format=torch.channels_last)
    return ToDimOrderCopy(image, dim_order=LAST).insert(before, value)


def contiguous(before: Node, image: Node) -> Node:
    """Inserts a contiguous copy of an image before a node."""
    return ToDimOrderCopy(image, dim_order=FIRST).insert(before, graphs.value(image).contiguous())
