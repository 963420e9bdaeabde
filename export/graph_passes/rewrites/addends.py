"""Fuses residual additions into packed convolutions, which add while the results are in registers."""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import AddTensor, PackedConvolution
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _rewrite(_: ExportedProgram, node: Node, add: AddTensor[Node]) -> Change | None:
    for layer, addend in ((add.input, add.other), (add.other, add.input)) if add.alpha == 1 else ():
        convolution = PackedConvolution.of(layer)
        if convolution is not None and _takes(convolution, layer, addend):
            # The new call takes the place of the addition, since the addend may be computed after the convolution.
            fused = convolution.replace(addend=addend).insert(node, graphs.value(layer))
            return Change(node, "done by the convolution before it", fused)
    return None


def _takes(convolution: PackedConvolution[Node], layer: Node, addend: Node) -> bool:
    """Returns whether a convolution, the call `layer`, can add a tensor. Only the addition may use the result."""
    if layer is addend or convolution.addend is not None or convolution.activation != "none":
        return False
    one, other = graphs.value(layer), graphs.value(addend)
    return len(layer.users) == 1 and one.dtype == other.dtype and graphs.same_layouts(one, other)


PASS = GraphPass(
    "addends",
    Stage.LOWERED,
    roots=(AddTensor,),
    rewrite=_rewrite,
    reference="fuses the addition of a tensor, such as a residual, into the packed convolution before it",
    after=("channels_last",),
)
