"""Keeps images of bytes channels-last between quantized convolutions.

The pass quantized_layers copies images to channels-last before each convolution, and back after the convolution. This
pass moves additions and tables of bytes before the copies back, and removes copies that cancel each other.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import dim_orders, graphs
from export.graph_passes.calls import QuantizedAdd, QuantizedLookup, ToDimOrderCopy
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    for node in sites:
        moved = _moved(node)
        if moved is None:
            continue
        changes.append(Change.of(node, f"{graphs.name_of(node)} of channels-last bytes"))
        if isinstance(moved, Node):
            graphs.replace(node, moved)
            continue
        value = graphs.value(node).to(memory_format=torch.channels_last)
        graphs.replace(node, dim_orders.contiguous(node, moved.insert(node, value)))
    return changes


def _moved(node: Node) -> Node | QuantizedAdd[Node] | QuantizedLookup[Node] | None:
    """Returns a call or a node with a node's elements in channels-last order; None if there is none."""
    if add := QuantizedAdd.of(node):
        a, b = _source(add.a, node), _source(add.b, node)
        return add.replace(a=a, b=b) if a and b else None
    if lookup := QuantizedLookup.of(node):
        source = _source(lookup.input, node)
        return lookup.replace(input=source) if source else None
    copy = ToDimOrderCopy.of(node)
    return _source(copy.input, node) if copy and copy.dim_order == dim_orders.LAST else None


def _source(image: Node, user: Node) -> Node | None:
    """Returns the channels-last image that a call copies to contiguous order; None for any other call.

    Args:
        image: the call.
        user: the call that reads the image. Its result has the size of the image.
    """
    copy = ToDimOrderCopy.of(image)
    if copy is None or copy.dim_order != dim_orders.FIRST:
        return None
    before, after = graphs.value(copy.input), graphs.value(image)
    is_taken = graphs.is_channels_last(before) and before.dtype == after.dtype
    return copy.input if is_taken and graphs.same_sizes(before.shape, graphs.value(user).shape) else None


PASS = GraphPass(
    "channels_of_bytes",
    Stage.LOWERED,
    _run,
    reference=(
        "keeps images of bytes channels-last between the convolutions of `quantized_layers`, which copies images to "
        "that order and back. Additions and tables between two convolutions then read and write channels-last bytes"
    ),
    after=("quantized_add",),
)
