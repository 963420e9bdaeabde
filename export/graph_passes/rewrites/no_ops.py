"""Removes calls that change nothing: copies, views of the same shape, and permutations that cancel each other."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, padding_operators
from export.graph_passes.calls import (
    AliasCopy,
    Clone,
    CloneDimOrder,
    ConstantPadNd,
    DetachCopy,
    ExpandCopy,
    LiftFreshCopy,
    PermuteCopy,
    Repeat,
    ToCopy,
    ToDimOrderCopy,
    ViewCopy,
)
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

# These operators change nothing if the result has the sizes, the order and the dtype of the first argument. A
# permutation must also keep the order of the dimensions, and padding must have widths of 0 only: widths of 1 and -1
# shift the elements.
_COPIES = (
    AliasCopy,
    Clone,
    CloneDimOrder,
    ConstantPadNd,
    DetachCopy,
    ExpandCopy,
    LiftFreshCopy,
    PermuteCopy,
    Repeat,
    ToCopy,
    ToDimOrderCopy,
    ViewCopy,
    *padding_operators.ALL,
)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    for node, second in PermuteCopy.each(sites):
        first = PermuteCopy.of(second.input)
        if first is not None and not graphs.is_output(second.input):
            PermuteCopy(first.input, tuple(first.dims[dim] for dim in second.dims)).write(node)
            changes.append(Change.of(node, "two permutations made one"))
    for node in sites:
        source = _source(node)
        if source is not None and not _must_copy(node, source):
            changes.append(Change.of(node, f"{graphs.name_of(node)} that changes nothing"))
            graphs.replace(node, source)
    return changes


def _source(node: Node) -> Node | None:
    """Returns the input of a call that changes nothing; None for any other node."""
    call = next((call for call in (one.of(node) for one in _COPIES) if call), None)
    if call is None or (isinstance(call, PermuteCopy) and call.dims != tuple(range(len(call.dims)))):
        return None
    if not all(isinstance(width, int) and width == 0 for width in _widths(call)):
        return None
    source, result = graphs.value(call.input), graphs.value(node)
    if not isinstance(source, torch.Tensor) or not isinstance(result, torch.Tensor):
        return None
    is_same = source.dtype == result.dtype and graphs.same_sizes(source.shape, result.shape)
    return call.input if is_same and _same_order(source, result) else None


def _widths(call: Any) -> tuple[int | Node, ...]:
    """Returns the widths of padding; none for any other call."""
    if isinstance(call, ConstantPadNd):
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
    _run,
    reference="removes copies, views and padding that change nothing, and permutations that cancel each other",
    is_default=True,
    after=("batch_norm", "padding"),
)
