"""Packs the weights of linear layers into the order in which the kernel reads them.

If the input has few rows, a kernel that reads PyTorch's order spends a third of the time on transposing the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import Addmm, Embedding, Linear, Mm, PackedEmbedding, PackedLinear
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage
from export.graph_passes.operators import packed_linear as operator

# The largest ratio between the sizes of packed and unpacked weights. Zeros fill up the last panel.
_MOST_SHARE = 1.125


@dataclass(frozen=True)
class _Layer:
    input: Node
    weight: Node
    bias: Node | None
    is_transposed: bool  # whether the weight has a row for each output feature

    @classmethod
    def of(cls, node: Node) -> _Layer | None:
        """Returns a call as a linear layer; None for any other call."""
        if linear := Linear.of(node):
            return cls(linear.input, linear.weight, linear.bias, is_transposed=True)
        if mm := Mm.of(node):
            return cls(mm.input, mm.mat2, None, is_transposed=False)
        addmm = Addmm.of(node)
        if addmm is None or addmm.alpha != 1 or addmm.beta != 1:
            return None
        return cls(addmm.mat1, addmm.mat2, addmm.input, is_transposed=False)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    packed: dict[Node, Node] = {}
    for node in sites:
        layer = _Layer.of(node)
        weight = graphs.weight(program, layer.weight) if layer else None
        # A weight of one dimension is a dot product, not a layer with output features.
        if layer is None or weight is None or weight.dim() != 2 or not _is_only_weight(layer.weight):
            continue
        rows = weight if layer.is_transposed else weight.t()
        features, inputs = rows.shape
        if not operator.can_pack(weight.dtype, inputs) or operator.packed_share(features) > _MOST_SHARE:
            continue
        if layer.bias is not None and tuple(graphs.value(layer.bias).shape) != (features,):
            continue
        changes.append(Change.of(node, "weights of a linear layer packed"))
        if layer.weight not in packed:
            packed[layer.weight] = graphs.add_constant(program, f"{node.name}_weight_packed", operator.pack(rows))
        call = PackedLinear(layer.input, packed[layer.weight], layer.bias, features)
        graphs.replace(node, call.insert(node, graphs.value(node)))
    changes += _read_panels(sites, packed)
    return changes


def _read_panels(sites: Sites, packed: Mapping[Node, Node]) -> Iterator[Change]:
    """Replaces embeddings whose table is a packed weight by embeddings that read the panels."""
    for node, embedding in Embedding.each(sites):
        table = embedding.weight
        if table in packed:
            yield Change.of(node, "embedding of a linear layer's packed weights")
            call = PackedEmbedding(packed[table], embedding.indices, graphs.value(table).shape[0])
            graphs.replace(node, call.insert(node, graphs.value(node)))


def _is_only_weight(weight: Node) -> bool:
    """Returns whether all users of a tensor are embeddings, and linear layers with the tensor as the same weight."""
    embeddings = [user for user in weight.users if Embedding.of(user)]
    layers = [_Layer.of(user) for user in weight.users if user not in embeddings]
    kinds = {layer and (layer.weight, layer.is_transposed) for layer in layers}
    return (
        len(kinds) == 1
        and all(layer and weight not in (layer.input, layer.bias) for layer in layers)
        and (not embeddings or all(layer and layer.is_transposed for layer in layers))
    )


PASS = GraphPass(
    "packed_linear",
    Stage.LOWERED,
    _run,
    reference=(
        "stores the weights of linear layers in float32, half and bfloat16 in the order in which the kernel reads them "
        "([panels](../docs/optimized_kernels.md#weights-in-panels)), as `rules_executorch::packed_linear.out`. An "
        "embedding that shares the layer's weight reads the panels, as `rules_executorch::packed_embedding.out`. A "
        "weight stays as it is if another call reads it, if it would grow by more than an eighth, or if it is bfloat16 "
        "with an odd number of input features"
    ),
    after=("quantized_layers", "weight_only"),
)
