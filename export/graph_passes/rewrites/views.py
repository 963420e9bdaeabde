"""Replaces calls that only reindex elements by view_copy, which ExecuTorch's memory planning turns into views."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, graphs
from export.graph_passes.aliases import Aliases
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

_OPERATORS = (
    calls.ExpandCopy,
    calls.PermuteCopy,
    calls.SelectCopyInt,
    calls.SliceCopyTensor,
    calls.SqueezeCopyDim,
    calls.SqueezeCopyDims,
    calls.UnsqueezeCopy,
)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    """Keeps the aliases of the whole graph, which each view adds to."""
    return sites.rewrite(_OPERATORS, functools.partial(_rewrite, Aliases(program)))


def _rewrite(aliases: Aliases, _: ExportedProgram, node: Node, call: Any) -> Change | None:
    sizes = _sizes(call.input, node, call.dims if isinstance(call, calls.PermuteCopy) else ())
    # ExecuTorch copies a view that is an output.
    if sizes is None or graphs.is_output(node) or not aliases.can_view(node, call.input):
        return None
    what = f"{graphs.name_of(node)} made a view"
    calls.ViewCopy(call.input, sizes).write(node)
    aliases.join(node, call.input)
    return Change(node, what)


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
    run=_run,
    reference=(
        "replaces calls that only reindex elements (`unsqueeze`, `squeeze`, `select` of the only element, permutations "
        "of dimensions of size 1) by views, which cost nothing after ExecuTorch's memory planning"
    ),
    is_default=True,
    after=("in_place", "tied_weights"),
)
