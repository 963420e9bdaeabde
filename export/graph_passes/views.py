"""Says by view_copy what only gives elements other indices: ExecuTorch's memory planning has views cost nothing."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import statically_known_true

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_PERMUTE = _ATEN.permute_copy.default
_TARGETS = (
    _ATEN.expand_copy.default,
    _ATEN.select_copy.int,
    _ATEN.slice_copy.Tensor,
    _ATEN.squeeze_copy.dim,
    _ATEN.squeeze_copy.dims,
    _ATEN.unsqueeze_copy.default,
    _PERMUTE,
)


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for node in graphs.calls(program, *_TARGETS):
        sizes = _sizes(node)
        # ExecuTorch copies what is an output, and does not know where the view of a result in place lies.
        if sizes is None or graphs.is_output(node) or node.args[0].target is _ATEN.index_put_.default:
            continue
        changes.append(Change.of(node, f"{graphs.name_of(node)} made a view"))
        view = graphs.insert_call(node, _ATEN.view_copy.default, (node.args[0], sizes), graphs.value(node))
        graphs.replace(node, view)
    graphs.finish(program)
    return changes


def _sizes(node: graphs.Call) -> list[int] | None:
    """The sizes to view the argument with; None where the call moves, repeats or leaves out elements."""
    source, result = graphs.value(node.args[0]), graphs.value(node)
    if not isinstance(source, torch.Tensor) or not isinstance(result, torch.Tensor):
        return None
    if not (graphs.is_contiguous(source) and graphs.is_contiguous(result)):
        return None
    if not statically_known_true(source.numel() == result.numel()):
        return None
    if node.target is _PERMUTE:
        order = [dim % source.dim() for dim in node.args[1]]
        moved = [dim for dim in order if not statically_known_true(source.shape[dim] == 1)]
        if moved != sorted(moved):
            return None
    # A view has one size that it finds out when the program runs.
    sizes = [size if isinstance(size, int) else -1 for size in result.shape]
    return sizes if sizes.count(-1) < 2 else None


PASS = GraphPass("views", Stage.LOWERED, _run)
