"""Has convolutions add what is added to their results, while these are in registers: the residual of a block."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import AddTensor, PackedConvolution
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    for node, add in AddTensor.each(sites):
        if add.alpha != 1:
            continue
        for layer, addend in ((add.input, add.other), (add.other, add.input)):
            convolution = PackedConvolution.of(layer)
            if convolution is None or not _takes(convolution, layer, addend):
                continue
            changes.append(Change.of(node, "done by the convolution before it"))
            # In the place of the addition, before which the addend is known.
            graphs.replace(node, convolution.replace(addend=addend).insert(node, graphs.value(layer)))
            program.graph.erase_node(layer)
            break
    return changes


def _takes(convolution: PackedConvolution[Node], layer: Node, addend: Node) -> bool:
    """Whether a convolution, the call `layer`, can add a tensor, to which alone its result is added."""
    if layer is addend or convolution.addend is not None or convolution.activation != "none":
        return False
    one, other = graphs.value(layer), graphs.value(addend)
    return len(layer.users) == 1 and one.dtype == other.dtype and graphs.same_layouts(one, other)


PASS = GraphPass(
    "addends",
    Stage.LOWERED,
    _run,
    reference="has a packed convolution add the tensor that is added to its result",
    after=("channels_last",),
)
