"""Packs the weights of linear layers into the order in which the kernel reads them.

If the input has few rows, a kernel that reads PyTorch's order spends a third of the time on transposing the weights.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
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


def _run(_: ExportedProgram, sites: Sites) -> list[Change]:
    """Rewrites in two steps, since layers and embeddings share the packed weights."""
    packed: dict[Node, Node] = {}
    layers = sites.rewrite((Addmm, Linear, Mm), functools.partial(_pack, packed))
    return [*layers, *sites.rewrite((Embedding,), functools.partial(_read_panels, packed))]


def _pack(packed: dict[Node, Node], program: ExportedProgram, node: Node, _: object) -> Change | None:
    layer = _Layer.of(node)
    weight = graphs.weight(program, layer.weight) if layer else None
    # A weight of one dimension is a dot product, not a layer with output features.
    if layer is None or weight is None or weight.dim() != 2 or not _is_only_weight(layer.weight):
        return None
    rows = weight if layer.is_transposed else weight.t()
    features, inputs = rows.shape
    if not operator.can_pack(weight.dtype, inputs) or operator.packed_share(features) > _MOST_SHARE:
        return None
    if layer.bias is not None and tuple(graphs.value(layer.bias).shape) != (features,):
        return None
    if layer.weight not in packed:
        packed[layer.weight] = graphs.add_constant(program, f"{node.name}_weight_packed", operator.pack(rows))
    call = PackedLinear(layer.input, packed[layer.weight], layer.bias, features)
    return Change(node, "weights of a linear layer packed", call)


def _read_panels(
    packed: Mapping[Node, Node], _: ExportedProgram, node: Node, embedding: Embedding[Node]
) -> Change | None:
    """Replaces an embedding whose table is a packed weight by an embedding that reads the panels."""
    table = embedding.weight
    if table not in packed:
        return None
    call = PackedEmbedding(packed[table], embedding.indices, graphs.value(table).shape[0])
    return Change(node, "embedding of a linear layer's packed weights", call)


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
    run=_run,
    reference=(
        "stores the weights of linear layers in float32, half and bfloat16 in the order in which the kernel reads them "
        "([panels](../docs/optimized_kernels.md#weights-in-panels)), as `rules_executorch::packed_linear.out`. An "
        "embedding that shares the layer's weight reads the panels, as `rules_executorch::packed_embedding.out`. A "
        "weight stays as it is if another call reads it, if it would grow by more than an eighth, or if it is bfloat16 "
        "with an odd number of input features"
    ),
    after=("quantized_layers", "weight_only"),
)
