"""Replaces calls that only reindex elements by view_copy, which ExecuTorch's memory planning turns into views."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.aliases import Aliases
from export.graph_passes.calls import (
    ExpandCopy,
    PermuteCopy,
    SelectCopyInt,
    SliceCopyTensor,
    SqueezeCopyDim,
    SqueezeCopyDims,
    UnsqueezeCopy,
    ViewCopy,
)
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

_OPERATORS = (ExpandCopy, PermuteCopy, SelectCopyInt, SliceCopyTensor, SqueezeCopyDim, SqueezeCopyDims, UnsqueezeCopy)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    aliases = Aliases(program)
    for node in sites:
        call = next((call for call in (one.of(node) for one in _OPERATORS) if call), None)
        # ExecuTorch copies a view that is an output.
        if call is None or graphs.is_output(node):
            continue
        sizes = _sizes(call.input, node, call.dims if isinstance(call, PermuteCopy) else ())
        if sizes is None or not aliases.can_view(node, call.input):
            continue
        changes.append(Change.of(node, f"{graphs.name_of(node)} made a view"))
        ViewCopy(call.input, sizes).write(node)
        aliases.join(node, call.input)
    return changes


def _sizes(before: Node, after: Node, order: Sequence[int]) -> tuple[int, ...] | None:
    """Returns the sizes of the view; None if a call moves, repeats or removes elements.

    Args:
        before: the input of the call.
        after: the call.
        order: in a permutation, the input's dimension for each dimension of the result.
    """
    source, result = graphs.value(before), graphs.value(after)
    if not isinstance(source, torch.Tensor) or not isinstance(result, torch.Tensor):
        return None
    if not (graphs.is_contiguous(source) and graphs.is_contiguous(result)):
        return None
    if not graphs.is_true(source.numel() == result.numel()) or graphs.has_late_sizes(source):
        return None
    moved = [dim for dim in order if not graphs.is_true(source.shape[dim] == 1)]
    if moved != sorted(moved):
        return None
    return graphs.view_sizes(result)


PASS = GraphPass(
    "views",
    Stage.LOWERED,
    _run,
    reference=(
        "replaces calls that only reindex elements (`unsqueeze`, `squeeze`, `select` of the only element, permutations "
        "of dimensions of size 1) by views, which cost nothing after ExecuTorch's memory planning"
    ),
    is_default=True,
    after=("in_place", "tied_weights"),
)
