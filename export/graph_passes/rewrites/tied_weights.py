"""Multiplies a weight that a linear layer shares with an embedding from the left: `(W xᵀ)ᵀ` instead of `x Wᵀ`.

The pass `constants` cannot store such a weight transposed, since the embedding reads the weight as it is. The program
would transpose the weight, which has a row for each word of the vocabulary, in each run. `x` has a row for each token.
"""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import Addmm, Mm, PermuteCopy, ViewCopy
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_TRANSPOSED = (1, 0)
_Layer = Addmm[Node] | Mm[Node]


def _rewrite(program: ExportedProgram, node: Node, _: object) -> Change | None:
    layer = _layer(node)
    weight = _transposed_weight(program, layer) if layer else None
    if layer is None or weight is None or not _moves_less(node, layer):
        return None
    _swap(node, layer, weight)
    return Change(node, "a weight multiplied from the left instead of transposed")


def _layer(node: Node) -> _Layer | None:
    addmm = Addmm.of(node)
    # A bias of one dimension has an element for each output feature, or one for all of them.
    return addmm if addmm and graphs.value(addmm.input).dim() == 1 else Mm.of(node)


def _input(layer: _Layer) -> Node:
    return layer.mat1 if isinstance(layer, Addmm) else layer.input


def _transposed_weight(program: ExportedProgram, layer: _Layer) -> Node | None:
    """Returns the constant that a layer transposes; None if there is none, or if a call needs the transposed one."""
    transposition = PermuteCopy.of(layer.mat2)
    if transposition is None or transposition.dims != _TRANSPOSED:
        return None
    users = [_layer(user) for user in layer.mat2.users]
    if not all(one and one.mat2 is layer.mat2 and _input(one) is not layer.mat2 for one in users):
        return None
    return transposition.input if graphs.weight(program, transposition.input) is not None else None


def _moves_less(node: Node, layer: _Layer) -> bool:
    """Returns whether the transposed input and result have fewer elements than the weight, for all inputs."""
    rows, outputs = graphs.value(node).shape
    inputs = graphs.value(_input(layer)).shape[1]
    return graphs.is_true(rows * (inputs + outputs) < inputs * outputs)


def _swap(node: Node, layer: _Layer, weight: Node) -> None:
    source, result = graphs.value(_input(layer)), graphs.value(node)
    rows, inputs = source.shape
    outputs = result.shape[1]
    columns = PermuteCopy(_input(layer), _TRANSPOSED).insert(node, graphs.like(source, (inputs, rows), (rows, 1)))
    product = graphs.like(result, (outputs, rows), (rows, 1))
    if isinstance(layer, Addmm):
        bias = layer.input
        (count,) = graphs.value(bias).shape
        column = ViewCopy(bias, (count, 1)).insert(node, graphs.like(graphs.value(bias), (count, 1), (1, 1)))
        swapped = layer.replace(input=column, mat1=weight, mat2=columns).insert(node, product)
    else:
        swapped = Mm(weight, columns).insert(node, product)
    PermuteCopy(swapped, _TRANSPOSED).write(node)


PASS = GraphPass(
    "tied_weights",
    Stage.LOWERED,
    roots=(Addmm, Mm),
    rewrite=_rewrite,
    reference=(
        "multiplies a weight that a linear layer shares with an embedding from the left, so that a run transposes the "
        "layer's input and result instead of the weight. A layer stays as it is if its input and result have more "
        "elements than its weight"
    ),
    is_default=True,
    after=("constants", "packed_linear"),
)
