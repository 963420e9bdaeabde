"""Has programs keep the weights of linear layers in the order in which the kernel reads them.

Where the input has few rows, a kernel that reads weights as PyTorch has them spends a third of the time on transposing
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_LINEAR = _ATEN.linear.default
# Whose weights have a row for each input feature.
_ADDMM = _ATEN.addmm.default
_MM = _ATEN.mm.default
# Whose table may be the weights of a layer: a row for each output feature.
_EMBEDDING = _ATEN.embedding.default
# By how much weights may grow, whose last panel is filled up.
_MOST_SHARE = 1.125


@dataclass(frozen=True)
class _Layer:
    input: Node
    weight: Node
    bias: Node | None
    is_transposed: bool  # whether the weight has a row for each output feature


def _run(program: ExportedProgram) -> list[Change]:
    from export.graph_passes import packed_linear_operator as operator  # Registers it, for programs with it only.

    target: Any = graphs.EDGE.rules_executorch.packed_linear.default
    changes = []
    packed: dict[Node, Node] = {}
    for node in graphs.calls(program, _LINEAR, _ADDMM, _MM):
        layer = _layer(node)
        weight = graphs.constant(program, layer.weight) if layer else None
        if layer is None or weight is None or not _is_only_weight(layer.weight):
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
        args = (layer.input, packed[layer.weight], layer.bias, features)
        graphs.replace(node, graphs.insert_call(node, target, args, graphs.value(node)))
    changes += _read_panels(program, packed)
    graphs.finish(program)
    return changes


def _read_panels(program: ExportedProgram, packed: Mapping[Node, Node]) -> Iterator[Change]:
    """Has embeddings read the packed weights of the layers that they share their tables with."""
    for node in graphs.calls(program, _EMBEDDING):
        table, indices, *_ = node.args  # Those behind them matter to gradients only.
        if table in packed:
            from export.graph_passes.packed_embedding_operator import edge_operator  # Registers it, as above.

            yield Change.of(node, "embedding of a linear layer's packed weights")
            args = (packed[table], indices, graphs.value(table).shape[0])
            graphs.replace(node, graphs.insert_call(node, edge_operator(), args, graphs.value(node)))


def _layer(node: graphs.Call) -> _Layer | None:
    """What a call computes; None where that is no linear layer."""
    if node.kwargs:  # Factors of a product and of what is added.
        return None
    if node.target is _LINEAR:
        return _Layer(node.args[0], node.args[1], graphs.argument(node, "bias"), is_transposed=True)
    if node.target is _MM:
        return _Layer(node.args[0], node.args[1], None, is_transposed=False)
    return _Layer(node.args[1], node.args[2], node.args[0], is_transposed=False)


def _is_only_weight(weight: Node) -> bool:
    """Whether a tensor is the weight of layers of one kind, perhaps an embedding's table as well, and nothing else."""
    embeddings = [user for user in weight.users if user.target is _EMBEDDING]
    layers = [
        _layer(user) if user.target in (_LINEAR, _ADDMM, _MM) else None
        for user in weight.users
        if user not in embeddings
    ]
    kinds = {layer and (layer.weight, layer.is_transposed) for layer in layers}
    return (
        len(kinds) == 1
        and all(layer and weight not in (layer.input, layer.bias) for layer in layers)
        and (not embeddings or all(layer and layer.is_transposed for layer in layers))
    )


PASS = GraphPass("packed_linear", Stage.LOWERED, _run)
