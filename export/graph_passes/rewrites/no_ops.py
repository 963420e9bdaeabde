"""Removes calls that change nothing: copies, views of the same shape, and permutations that cancel each other."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, graphs, padding_operators
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

# These operators change nothing if the result has the sizes, the order and the dtype of the first argument. A
# permutation must also keep the order of the dimensions, and padding must have widths of 0 only: widths of 1 and -1
# shift the elements.
_COPIES = (
    calls.AliasCopy,
    calls.Clone,
    calls.CloneDimOrder,
    calls.ConstantPadNd,
    calls.DetachCopy,
    calls.ExpandCopy,
    calls.LiftFreshCopy,
    calls.PermuteCopy,
    calls.Repeat,
    calls.ToCopy,
    calls.ToDimOrderCopy,
    calls.ViewCopy,
    *padding_operators.ALL,
)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    """Rewrites in two steps: permutations that are made one in the first step may cancel each other."""
    return [*sites.rewrite((calls.PermuteCopy,), _make_one), *sites.rewrite(_COPIES, _remove)]


def _make_one(_: ExportedProgram, node: Node, second: calls.PermuteCopy[Node]) -> Change | None:
    first = calls.PermuteCopy.of(second.input)
    if first is None or graphs.is_output(second.input):
        return None
    calls.PermuteCopy(first.input, tuple(first.dims[dim] for dim in second.dims)).write(node)
    return Change(node, "two permutations made one")


def _remove(_: ExportedProgram, node: Node, call: Any) -> Change | None:
    if not _changes_nothing(node, call) or _must_copy(node, call.input):
        return None
    return Change(node, f"{graphs.name_of(node)} that changes nothing", call.input)


def _changes_nothing(node: Node, call: Any) -> bool:
    if isinstance(call, calls.PermuteCopy) and call.dims != tuple(range(len(call.dims))):
        return False
    if not all(isinstance(width, int) and width == 0 for width in _widths(call)):
        return False
    source, result = graphs.value(call.input), graphs.value(node)
    if not isinstance(source, torch.Tensor) or not isinstance(result, torch.Tensor):
        return False
    is_same = source.dtype == result.dtype and graphs.same_sizes(source.shape, result.shape)
    return is_same and _same_order(source, result)


def _widths(call: Any) -> tuple[int | Node, ...]:
    """Returns the widths of padding; none for any other call."""
    if isinstance(call, calls.ConstantPadNd):
        return call.pad
    return call.padding if isinstance(call, padding_operators.ALL) else ()


def _same_order(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Returns whether two tensors of one shape have the same strides, without dimensions of size 1."""
    strides = zip(a.shape, a.stride(), b.stride(), strict=True)
    return all(graphs.is_true(size == 1) or graphs.is_true(x == y) for size, x, y in strides)


def _must_copy(node: Node, source: Node) -> bool:
    """Returns whether a copy must stay, since an output may not share memory with an input or another output."""
    return graphs.is_output(node) and (source.op == "placeholder" or graphs.is_output(source))


PASS = GraphPass(
    "no_ops",
    Stage.LOWERED,
    run=_run,
    reference="removes copies, views and padding that change nothing, and permutations that cancel each other",
    is_default=True,
    after=("batch_norm", "padding"),
)
