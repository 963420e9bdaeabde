"""Keeps images of bytes channels-last between convolutions, which read and give such ones.

quantized_layers copies images to that order before each convolution, and back behind it. Here, additions and tables of
bytes move before the copies back, and copies that meet each other are left out.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, quantized
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_COPY = graphs.EDGE.dim_order_ops._to_dim_order_copy.default
_LAST, _FIRST = [0, 2, 3, 1], [0, 1, 2, 3]


def channels_last(before: Node, image: Node) -> Node:
    """A copy of an image whose pixels have their channels next to each other."""
    value = graphs.value(image).to(memory_format=torch.channels_last)
    return _copy(before, image, value, _LAST)


def contiguous(before: Node, image: Node) -> Node:
    """A copy in the order of the indices."""
    return _copy(before, image, graphs.value(image).contiguous(), _FIRST)


def _copy(before: Node, image: Node, value: torch.Tensor, order: list[int]) -> Node:
    copy = graphs.insert_call(before, _COPY, (image,), value)
    copy.kwargs = {"dim_order": order}
    return copy


def _run(program: ExportedProgram) -> list[Change]:
    if not quantized.is_quantized(program):
        return []
    from export.graph_passes import quantized_operators  # noqa: F401, registers them for programs that have them.

    own = graphs.EDGE.rules_executorch
    changes = []
    for call in graphs.calls(program, _COPY, own.quantized_add.default, own.quantized_lookup.default):
        images = call.args[:2] if call.target is own.quantized_add.default else call.args[:1]
        if call.target is _COPY and call.kwargs.get("dim_order") != _LAST:
            continue
        sources = [_source(image) for image in images]
        found = [source for source in sources if source is not None]
        if len(found) != len(sources) or any(
            not graphs.same_sizes(graphs.value(source).shape, graphs.value(call).shape) for source in found
        ):
            continue
        changes.append(Change.of(call, f"{graphs.name_of(call)} of channels-last bytes"))
        if call.target is _COPY:
            graphs.replace(call, found[0])
            continue
        value = graphs.value(call).to(memory_format=torch.channels_last)
        moved = graphs.insert_call(call, call.target, (*found, *call.args[len(found) :]), value)
        graphs.replace(call, contiguous(call, moved))
    graphs.finish(program)
    return changes


def _source(image: graphs.Call) -> Node | None:
    """The channels-last image that a call copies to the order of the indices; None for any other call."""
    if image.target is not _COPY or image.kwargs.get("dim_order") != _FIRST:
        return None
    source: Node = image.args[0]
    is_last = graphs.value(source).is_contiguous(memory_format=torch.channels_last)
    same = graphs.value(source).dtype == graphs.value(image).dtype
    return source if is_last and same else None


PASS = GraphPass("channels_of_bytes", Stage.LOWERED, _run)
