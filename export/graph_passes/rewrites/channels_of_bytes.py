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
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_Call = QuantizedAdd[Node] | QuantizedLookup[Node] | ToDimOrderCopy[Node]


def _rewrite(_: ExportedProgram, node: Node, call: _Call) -> Change | None:
    moved = _moved(node, call)
    if moved is not None and not isinstance(moved, Node):
        image = moved.insert(node, graphs.value(node).to(memory_format=torch.channels_last))
        moved = dim_orders.contiguous(node, image)
    return Change(node, f"{graphs.name_of(node)} of channels-last bytes", moved) if moved else None


def _moved(node: Node, call: _Call) -> Node | _Call | None:
    """Returns a call or a node with a node's elements in channels-last order; None if there is none."""
    if isinstance(call, QuantizedAdd):
        a, b = _source(call.a, node), _source(call.b, node)
        return call.replace(a=a, b=b) if a and b else None
    source = _source(call.input, node)
    if isinstance(call, QuantizedLookup):
        return call.replace(input=source) if source else None
    return source if call.dim_order == dim_orders.LAST else None


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
    roots=(QuantizedAdd, QuantizedLookup, ToDimOrderCopy),
    rewrite=_rewrite,
    reference=(
        "keeps images of bytes channels-last between the convolutions of `quantized_layers`, which copies images to "
        "that order and back. Additions and tables between two convolutions then read and write channels-last bytes"
    ),
    after=("quantized_add",),
)
