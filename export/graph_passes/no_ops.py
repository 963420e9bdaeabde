"""Drops calls that change nothing: copies, views of the same shape, and permutations that cancel each other."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import statically_known_true

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_DIM_ORDER = graphs.EDGE.dim_order_ops
_PERMUTE = _ATEN.permute_copy.default

# Each gives its first argument's elements, all of them in the same order where neither sizes nor dtype change.
_COPIES = (
    _ATEN._to_copy.default,
    _ATEN.alias_copy.default,
    _ATEN.clone.default,
    _ATEN.constant_pad_nd.default,
    _ATEN.detach_copy.default,
    _ATEN.expand_copy.default,
    _ATEN.lift_fresh_copy.default,
    _ATEN.repeat.default,
    _ATEN.view_copy.default,
    _DIM_ORDER._clone_dim_order.default,
    _DIM_ORDER._to_dim_order_copy.default,
)


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for node in graphs.calls(program, _PERMUTE):
        first: graphs.Call = node.args[0]
        if first.target is _PERMUTE and not graphs.is_output(first):
            order = [_positive(dim, first) for dim in first.args[1]]
            node.args = (first.args[0], [order[_positive(dim, node)] for dim in node.args[1]])
            changes.append(Change.of(node, "two permutations made one"))
    for node in graphs.calls(program, *_COPIES, _PERMUTE):
        if _changes_nothing(node) and not _must_copy(node):
            changes.append(Change.of(node, f"{graphs.name_of(node)} that changes nothing"))
            graphs.replace(node, node.args[0])
    graphs.finish(program)
    return changes


def _positive(dim: int, node: graphs.Call) -> int:
    rank: int = graphs.value(node).dim()
    return dim % rank


def _changes_nothing(node: graphs.Call) -> bool:
    source, result = graphs.value(node.args[0]), graphs.value(node)
    if not isinstance(source, torch.Tensor) or not isinstance(result, torch.Tensor):
        return False
    if node.target is _PERMUTE and [_positive(dim, node) for dim in node.args[1]] != list(range(result.dim())):
        return False
    return (
        source.dtype == result.dtype and graphs.same_sizes(source.shape, result.shape) and _same_order(source, result)
    )


def _same_order(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether elements of tensors of one shape lie in the same order."""
    strides = zip(a.shape, a.stride(), b.stride(), strict=True)
    return all(statically_known_true(size == 1) or statically_known_true(x == y) for size, x, y in strides)


def _must_copy(node: graphs.Call) -> bool:
    """Whether what is copied may not stand for the copy: an output has memory of its own."""
    source = node.args[0]
    return graphs.is_output(node) and (source.op == "placeholder" or graphs.is_output(source))


PASS = GraphPass("no_ops", Stage.LOWERED, _run)
