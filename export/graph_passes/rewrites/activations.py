"""Fuses activations into the layers before them, which apply the activation while the results are in the cache."""

from __future__ import annotations

import math

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs
from export.graph_passes.calls import (
    Activation,
    Clamp,
    Elu,
    FusedConvolution,
    Gelu,
    Hardtanh,
    LeakyRelu,
    PackedConvolution,
    PackedLinear,
    Relu,
    Sigmoid,
    Tanh,
    ViewCopy,
)
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage
from export.graph_passes.rewrites.written_activations import with_numbers

_Layer = FusedConvolution[Node] | PackedConvolution[Node] | PackedLinear[Node]


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    for node in sites:
        activation = _found(node)
        layer = _before_views(activation.input) if activation else None
        call = _idle(layer, node) if layer else None
        if activation is None or layer is None or call is None:
            continue
        changes.append(Change.of(node, f"{activation.activation} done by the layer before it"))
        call = call.replace(activation=activation.activation, minimum=activation.minimum, maximum=activation.maximum)
        fused = call.insert(layer, graphs.value(layer))
        graphs.replace(node, fused if activation.input is layer else activation.input)
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


def _found(node: Node) -> Activation[Node] | None:
    """Returns the activation that a call computes; None for any other node."""
    if relu := Relu.of(node):
        return _clamp(relu.input, 0, None)
    if hardtanh := Hardtanh.of(node):
        return _clamp(hardtanh.input, hardtanh.min_val, hardtanh.max_val)
    if clamp := Clamp.of(node):
        return _clamp(clamp.input, clamp.min, clamp.max)
    if sigmoid := Sigmoid.of(node):
        return Activation(sigmoid.input, "sigmoid")
    if tanh := Tanh.of(node):
        return Activation(tanh.input, "tanh")
    if gelu := Gelu.of(node):
        return Activation(gelu.input, "gelu" if gelu.approximate == "none" else "gelu_tanh")
    if leaky_relu := LeakyRelu.of(node):
        return with_numbers(leaky_relu.input, "leaky_relu", leaky_relu.negative_slope)
    if elu := Elu.of(node):
        # The kernels have no factor of the argument.
        return with_numbers(elu.input, "elu", elu.alpha, elu.scale) if elu.input_scale == 1 else None
    return Activation.of(node)


def _clamp(of: Node, minimum: float | Node | None, maximum: float | Node | None) -> Activation[Node] | None:
    low, high = -math.inf if minimum is None else minimum, math.inf if maximum is None else maximum
    if isinstance(low, Node) or isinstance(high, Node) or math.isnan(low) or math.isnan(high):
        return None
    return Activation(of, "clamp", float(low), float(high))


PASS = GraphPass(
    "activations",
    Stage.LOWERED,
    _run,
    reference=(
        "fuses an activation (`relu`, `hardtanh`, `clamp`, `leaky_relu`, `elu`, `gelu`, `sigmoid`, `tanh`, and those "
        "of `written_activations`) into the packed linear layer or convolution before it, which applies the "
        "activation while its results are in the cache: "
        "`rules_executorch::packed_linear.out`, `packed_convolution.out` and, for convolutions that `channels_last` "
        "leaves, `fused_convolution.out`"
    ),
    after=("addends", "packed_linear", "written_activations"),
)
