"""Keeps images of bytes channels-last between convolutions, which read and give such ones.

quantized_layers copies images to that order before each convolution, and back behind it. Here, additions and tables of
bytes move before the copies back, and copies that meet each other are left out.
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
    """What gives a call's elements channels-last: a call, or the node from which they are copied; None if nothing."""
    if add := QuantizedAdd.of(node):
        a, b = _source(add.a, node), _source(add.b, node)
        return add.replace(a=a, b=b) if a and b else None
    if lookup := QuantizedLookup.of(node):
        source = _source(lookup.input, node)
        return lookup.replace(input=source) if source else None
    copy = ToDimOrderCopy.of(node)
    return _source(copy.input, node) if copy and copy.dim_order == dim_orders.LAST else None


def _source(image: Node, user: Node) -> Node | None:
    """The channels-last image that a call copies to the order of the indices; None for any other call.

    Args:
        image: the call.
        user: what reads the image, and gives one of its size.
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
        "keeps images of bytes channels-last between the convolutions of `quantized_layers`, which copies them to "
        "that order and back: additions and tables between two convolutions read and give channels-last bytes, too"
    ),
    after=("quantized_add",),
)
