"""Has layers apply the activation that follows them, while their results are in the cache."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_CONVOLUTION = _ATEN.convolution.default
# The operators that take activations, with as many arguments before these.
_LAYERS = {
    "rules_executorch::fused_convolution": 8,
    "rules_executorch::packed_convolution": 11,
    "rules_executorch::packed_linear": 4,
}


@dataclass(frozen=True)
class _Activation:
    """A function of a tensor that some calls compute.

    Attributes:
        of: the tensor.
        arguments: what stands for the function in a call of a layer.
        readers: the calls among them that read the tensor.
    """

    of: graphs.Call
    arguments: tuple[Any, ...]
    readers: frozenset[Node]


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for node in graphs.calls(program, *_TARGETS):
        activation = _found(program, node)
        layer = _layer(activation, node) if activation else None
        if activation is None or layer is None:
            continue
        changes.append(Change.of(node, f"{activation.arguments[0]} done by the layer before it"))
        if layer.target is _CONVOLUTION:
            padding = layer.args[4]
            fused = fused_convolutions.insert(layer, layer.args[0], padding, padding)
            fused.args = (*fused.args, *activation.arguments)
            graphs.replace(node, fused if activation.of is layer else activation.of)
            graphs.replace(layer, fused)
        else:
            layer.args = (*layer.args, *activation.arguments)
            graphs.replace(node, activation.of)
        program.graph.eliminate_dead_code()
    graphs.finish(program)
    return changes


def _layer(activation: _Activation, node: Node) -> graphs.Call | None:
    """The layer whose results an activation is of, and that nothing else needs; None where there is none."""
    layer = activation.of
    if set(layer.users) != activation.readers or graphs.value(layer).dtype != graphs.value(node).dtype:
        return None
    while layer.target is _ATEN.view_copy.default:
        layer = layer.args[0]
        if len(layer.users) != 1:
            return None
    if layer.target is _CONVOLUTION:
        return None if layer.args[6] or not graphs.value(layer).is_floating_point() else layer
    return layer if len(layer.args) == _LAYERS.get(graphs.name_of(layer)) and not layer.kwargs else None


def _found(program: ExportedProgram, node: graphs.Call) -> _Activation | None:
    if node.target is _ATEN.relu.default:
        return _clamp(node, 0, None)
    if node.target is _ATEN.hardtanh.default:
        return _clamp(node, graphs.argument(node, "min_val"), graphs.argument(node, "max_val"))
    if node.target is _ATEN.clamp.default:
        return _clamp(node, graphs.argument(node, "min"), graphs.argument(node, "max"))
    if node.target is _ATEN.sigmoid.default:
        return _Activation(node.args[0], ("sigmoid",), frozenset({node}))
    if node.target is _ATEN.gelu.default:
        name = "gelu" if graphs.argument(node, "approximate") == "none" else "gelu_tanh"
        return _Activation(node.args[0], (name,), frozenset({node}))
    return _silu(node) or _gelu_tanh(program, node)


def _clamp(node: graphs.Call, minimum: Any, maximum: Any) -> _Activation | None:
    bounds = (-math.inf if minimum is None else minimum, math.inf if maximum is None else maximum)
    if not all(isinstance(bound, int | float) and not math.isnan(bound) for bound in bounds):
        return None
    return _Activation(node.args[0], ("clamp", *map(float, bounds)), frozenset({node}))


def _silu(product: graphs.Call) -> _Activation | None:
    """A tensor times its own sigmoid."""
    for x, sigmoid in (product.args, product.args[::-1]):
        if _is_call(sigmoid, _ATEN.sigmoid.default) and sigmoid.args[0] is x:
            return _Activation(x, ("silu",), frozenset({product, sigmoid})) if len(sigmoid.users) == 1 else None
    return None


def _gelu_tanh(program: ExportedProgram, product: graphs.Call) -> _Activation | None:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))), as transformers write it."""

    def operand(node: Any, target: Any, number: float) -> Any:
        """Of a sum or a product with a number, the other operand."""
        if not _is_call(node, target) or node.kwargs:
            return None
        for one, other in (node.args, node.args[::-1]):
            found = graphs.number(program, one)
            if found is not None and math.isclose(found, number, rel_tol=1e-6):
                return other
        return None

    for half, rest in (product.args, product.args[::-1]):
        x = operand(half, _ATEN.mul.Tensor, 0.5)
        tanh = operand(rest, _ATEN.add.Tensor, 1.0)
        if not isinstance(x, Node) or not _is_call(tanh, _ATEN.tanh.default):
            continue
        inner = operand(tanh.args[0], _ATEN.mul.Tensor, math.sqrt(2 / math.pi))
        if not _is_call(inner, _ATEN.add.Tensor) or inner.kwargs or inner.args[0] is not x:
            continue
        cube = operand(inner.args[1], _ATEN.mul.Tensor, 0.044715)
        if _is_call(cube, _ATEN.pow.Tensor_Scalar) and cube.args[0] is x and cube.args[1] == 3:
            return _Activation(x, ("gelu_tanh",), frozenset({half, inner, cube}))
    return None


def _is_call(node: Any, target: Any) -> bool:
    return isinstance(node, Node) and node.target is target


# What the last call of an activation calls.
_TARGETS = (
    _ATEN.clamp.default,
    _ATEN.gelu.default,
    _ATEN.hardtanh.default,
    _ATEN.mul.Tensor,
    _ATEN.relu.default,
    _ATEN.sigmoid.default,
)

PASS = GraphPass("activations", Stage.LOWERED, _run)
