"""Makes writes to caches, and to other tensors that are not needed afterwards, in-place writes without a copy.

All users of the call's result read the written tensor instead. ExecuTorch's memory planning does not know the lifetime
of the result of an in-place call, nor the memory of a view of the result.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.aliases import Aliases, outputs
from export.graph_passes.calls import IndexPut, IndexPutInPlace, ViewCopy
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    """Visits the calls from last to first, with the aliases of the whole graph."""
    changes = []
    for node, put in IndexPut.each(sites):
        _complete_values(node, put)
    aliases = Aliases(program)
    # Writes are processed from last to first. Once the later write is in place, the earlier result is not needed.
    for node, put in IndexPut.each(sites.among([*program.graph.nodes][::-1])):
        target = put.input
        if _is_plain(program, put) and aliases.can_write(node, target):
            changes.append(Change(node, "index_put in place"))
            node.replace_all_uses_with(target)
            IndexPutInPlace(target, put.indices, put.values).write(node)
            aliases.join(node, target)
            _leave_in_buffers(program, set(aliases.of(target)))
    return changes[::-1]


def _complete_values(node: Node, put: IndexPut[Node]) -> None:
    """Restores the leading dimensions of size 1 of the values, which PyTorch's index assignment removes."""
    values, chosen = graphs.value(put.values), _chosen(put)
    missing = 0 if chosen is None else len(chosen) - values.dim()
    if chosen is None or missing <= 0 or not graphs.same_sizes(chosen, [1] * missing + [*values.shape]):
        return
    sizes = tuple(size if isinstance(size, int) else -1 for size in chosen)
    if sizes.count(-1) < 2:  # A view can infer one size at run time.
        view = ViewCopy(put.values, sizes).insert(node, values[(None,) * missing])
        put.replace(values=view).write(node)


def _is_plain(program: ExportedProgram, put: IndexPut[Node]) -> bool:
    """Returns whether every library of kernels supports a call in place.

    ExecuTorch's kernel does not accumulate, broadcast, or accept negative indices.
    """
    chosen = _chosen(put)
    if chosen is None or put.accumulate:
        return False
    target, values = graphs.value(put.input), graphs.value(put.values)
    if not (graphs.is_contiguous(target) and graphs.is_contiguous(values) and graphs.same_sizes(values.shape, chosen)):
        return False
    known = [graphs.constant(program, index) for index in put.indices if index]
    return not any(index is not None and bool((index < 0).any()) for index in known)


def _chosen(put: IndexPut[Node]) -> list[int | torch.SymInt] | None:
    """Returns the sizes of the written part if the call has one index of one dimension; otherwise None.

    ExecuTorch's kernel supports no other indices.
    """
    indices = [(dim, graphs.value(index)) for dim, index in enumerate(put.indices) if index]
    if len(indices) != 1 or indices[0][1].dim() != 1 or indices[0][1].dtype not in (torch.int32, torch.int64):
        return None
    dim, index = indices[0]
    sizes = list(graphs.value(put.input).shape)
    return [*sizes[:dim], *index.shape, *sizes[dim + 1 :]]


def _leave_in_buffers(program: ExportedProgram, block: set[Node]) -> None:
    """Makes each buffer in `block` its own new value, so that nothing is copied to the buffer at the end."""
    values = tuple(written if {written, value} <= block else value for written, value in outputs(program))
    program.graph.output_node().args = (values,)
    for spec, value in zip(program.graph_signature.output_specs, values, strict=True):
        if isinstance(value, Node):
            spec.arg.name = value.name


PASS = GraphPass(
    "in_place",
    Stage.LOWERED,
    run=_run,
    reference=(
        "turns calls of `index_put`, which `index_copy_` and `cache[i] = x` become, into in-place writes. Caches, and "
        "other tensors whose former elements nothing reads afterwards, directly or through a view, are not copied. "
        "Inputs, constants and the caller's copy of a cache stay unchanged. A call stays as it is if it accumulates or "
        "broadcasts, or if anything else than one list of positions selects the elements: ExecuTorch's own kernel "
        "supports no more in place, and takes no negative positions"
    ),
    is_default=True,
    after=("rms_norm", "winograd"),
)
