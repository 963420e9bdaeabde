"""Writes to a cache, and to other tensors that are not needed afterwards, in place: nothing is copied.

ExecuTorch's reinplacing pass does it for index_put, which most updates of caches become.
"""

from __future__ import annotations

import torch
from executorch.exir.passes.reinplace import DEFAULT_INPLACEABLE_OPS, reinplace_pass
from torch.export import ExportedProgram

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten


def _run(program: ExportedProgram) -> list[Change]:
    # The pass takes all calls or none.
    if not all(_can_be_in_place(node) for node in graphs.calls(program, *DEFAULT_INPLACEABLE_OPS)):
        return []
    before = list(graphs.calls(program, *DEFAULT_INPLACEABLE_OPS))
    metas = [(node, dict(node.meta)) for node in before]
    written = {node: Change.of(node, "index_put in place") for node in before}
    reinplace_pass(program)
    after = list(graphs.calls(program, *DEFAULT_INPLACEABLE_OPS, _ATEN.index_put_.default))
    changes = []
    for (old, meta), new in zip(metas, after, strict=True):
        if new is not old:
            new.meta = {**meta, **new.meta}  # The line that the call comes from, among others.
            changes.append(written[old])
    program.graph_module.recompile()
    return changes


def _can_be_in_place(node: graphs.Call) -> bool:
    """Whether memory planning and every library of kernels get a call in place right.

    ExecuTorch's pass does not know that a view will share the memory of what it is of, and its memory planning does not
    know where the view of a result in place lies. ExecuTorch's kernel of index_put_ neither accumulates nor broadcasts.
    """
    target, indices, values, *accumulate = node.args
    if any(one.target is _ATEN.view_copy.default for one in (target, *target.users, *node.users)):
        return False
    chosen = torch.ops.aten.index.Tensor(target.meta["val"], [one and one.meta["val"] for one in indices])
    return not any(accumulate) and values.meta["val"].shape == chosen.shape


PASS = GraphPass("in_place", Stage.LOWERED, _run)
