"""Fuses activations into the layers before them, which apply the activation while the results are in the cache."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs
from export.graph_passes.calls import (
    AddTensor,
    Clamp,
    FusedConvolution,
    Gelu,
    Hardtanh,
    MulTensor,
    PackedConvolution,
    PackedLinear,
    PowTensorScalar,
    Relu,
    Sigmoid,
    Tanh,
    ViewCopy,
)
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

_Layer = FusedConvolution[Node] | PackedConvolution[Node] | PackedLinear[Node]


@dataclass(frozen=True)
class _Activation:
    """An activation that one or several calls compute.

    Attributes:
        of: the input of the activation.
        name: the activation's name in operators of this project.
        minimum: the lower bound of `clamp`.
        maximum: the upper bound of `clamp`.
    """

    of: Node
    name: str
    minimum: float = 0.0
    maximum: float = 0.0


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    for node in sites:
        activation = _found(program, node)
        layer = _before_views(activation.of) if activation else None
        call = _idle(layer, node) if layer else None
        if activation is None or layer is None or call is None:
            continue
        changes.append(Change.of(node, f"{activation.name} done by the layer before it"))
        call = call.replace(activation=activation.name, minimum=activation.minimum, maximum=activation.maximum)
        fused = call.insert(layer, graphs.value(layer))
        graphs.replace(node, fused if activation.of is layer else activation.of)
        graphs.replace(layer, fused)
        program.graph.eliminate_dead_code()
    return changes


def _before_views(node: Node) -> Node:
    """Returns the input of a chain of views that ends at a node; the node itself if it is no view."""
    while (view := ViewCopy.of(node)) is not None:
        node = view.input
    return node


def _idle(layer: Node, activation: Node) -> _Layer | None:
    """Returns a layer without an activation whose results only `activation` needs; None for any other node."""
    call = PackedLinear.of(layer) or PackedConvolution.of(layer) or fused_convolutions.of(layer)
    if call is None or call.activation != "none" or not graphs.is_only_for(layer, activation):
        return None
    value = graphs.value(layer)
    return call if value.is_floating_point() and value.dtype == graphs.value(activation).dtype else None


def _found(program: ExportedProgram, node: Node) -> _Activation | None:
    """Returns the activation whose last call is a node; None for any other node."""
    if relu := Relu.of(node):
        return _clamp(relu.input, 0, None)
    if hardtanh := Hardtanh.of(node):
        return _clamp(hardtanh.input, hardtanh.min_val, hardtanh.max_val)
    if clamp := Clamp.of(node):
        return _clamp(clamp.input, clamp.min, clamp.max)
    if sigmoid := Sigmoid.of(node):
        return _Activation(sigmoid.input, "sigmoid")
    if gelu := Gelu.of(node):
        return _Activation(gelu.input, "gelu" if gelu.approximate == "none" else "gelu_tanh")
    product = MulTensor.of(node)
    return (_silu(product) or _gelu_tanh(program, product)) if product else None


def _clamp(of: Node, minimum: float | Node | None, maximum: float | Node | None) -> _Activation | None:
    low, high = -math.inf if minimum is None else minimum, math.inf if maximum is None else maximum
    if isinstance(low, Node) or isinstance(high, Node) or math.isnan(low) or math.isnan(high):
        return None
    return _Activation(of, "clamp", float(low), float(high))


def _silu(product: MulTensor[Node]) -> _Activation | None:
    """Matches a tensor multiplied by its sigmoid."""
    for x, other in _orders(product):
        sigmoid = Sigmoid.of(other)
        if sigmoid and sigmoid.input is x:
            return _Activation(x, "silu")
    return None


def _gelu_tanh(program: ExportedProgram, product: MulTensor[Node]) -> _Activation | None:
    """Matches x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))), as in Hugging Face's transformers."""

    def without(number: float, call: AddTensor[Node] | MulTensor[Node] | None) -> Node | None:
        """Returns the other operand of a sum or a product with a number."""
        for one, other in _orders(call) if call else ():
            found = graphs.number(program, one)
            if found is not None and math.isclose(found, number, rel_tol=1e-6):
                return other
        return None

    for half, rest in _orders(product):
        x = without(0.5, MulTensor.of(half))
        tanh = Tanh.of(without(1.0, AddTensor.of(rest)))
        inner = AddTensor.of(without(math.sqrt(2 / math.pi), MulTensor.of(tanh.input))) if tanh else None
        if x is None or inner is None or inner.alpha != 1 or inner.input is not x:
            continue
        cube = PowTensorScalar.of(without(0.044715, MulTensor.of(inner.other)))
        if cube and cube.input is x and cube.exponent == 3:
            return _Activation(x, "gelu_tanh")
    return None


def _orders(call: AddTensor[Node] | MulTensor[Node]) -> tuple[tuple[Node, Node], ...]:
    """Returns the operands in both orders; nothing for an addition with `alpha`."""
    if isinstance(call, AddTensor) and call.alpha != 1:
        return ()
    return (call.input, call.other), (call.other, call.input)


PASS = GraphPass(
    "activations",
    Stage.LOWERED,
    _run,
    reference=(
        "fuses `relu`, `hardtanh`, `clamp`, `gelu`, `sigmoid` or `silu` into the packed linear layer or convolution "
        "before it, which applies the activation while its results are in the cache: "
        "`rules_executorch::packed_linear.out`, `packed_convolution.out` and, for convolutions that `channels_last` "
        "leaves, `fused_convolution.out`"
    ),
    after=("addends", "packed_linear"),
)
