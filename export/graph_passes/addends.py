"""Has convolutions add what is added to their results, while these are in registers: the residual of a block."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_CONVOLUTION = "rules_executorch::packed_convolution"
# Where a convolution without an activation has its addend.
_ADDEND = 3
_ARGUMENTS = 11


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for call in graphs.calls(program, graphs.EDGE.aten.add.Tensor):
        if call.kwargs:  # A factor.
            continue
        for layer, addend in (call.args, call.args[::-1]):
            if not _takes(layer, addend):
                continue
            changes.append(Change.of(call, "done by the convolution before it"))
            args = (*layer.args[:_ADDEND], addend, *layer.args[_ADDEND + 1 :])
            # In the place of the addition, before which the addend is known.
            graphs.replace(call, graphs.insert_call(call, layer.target, args, graphs.value(layer)))
            program.graph.erase_node(layer)
            break
    graphs.finish(program)
    return changes


def _takes(layer: graphs.Call, addend: graphs.Call) -> bool:
    """Whether a call is a convolution whose result is only added to a tensor like it."""
    if not isinstance(layer, Node) or not isinstance(addend, Node) or layer is addend:
        return False
    if graphs.name_of(layer) != _CONVOLUTION or len(layer.args) != _ARGUMENTS or layer.args[_ADDEND] is not None:
        return False
    one, other = graphs.value(layer), graphs.value(addend)
    return len(layer.users) == 1 and one.dtype == other.dtype and graphs.same_layouts(one, other)


PASS = GraphPass("addends", Stage.LOWERED, _run)
