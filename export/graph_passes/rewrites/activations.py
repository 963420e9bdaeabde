"""Fuses activations into the layers before them, which apply the activation while the results are in the cache."""

from __future__ import annotations

import math

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs
from export.graph_passes.call import Call
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
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.rewrites.written_activations import with_numbers

_Layer = FusedConvolution[Node] | PackedConvolution[Node] | PackedLinear[Node]


def _rewrite(program: ExportedProgram, node: Node, call: Call[Node]) -> Change | None:
    activation = _activation(call)
    layer = ViewCopy.before(activation.input) if activation else None
    idle = _idle(layer, node) if layer else None
    if activation is None or layer is None or idle is None:
        return None
    fused = idle.replace(activation=activation.activation, minimum=activation.minimum, maximum=activation.maximum)
    graphs.replace(node, activation.input)
    graphs.replace(layer, fused.insert(layer, graphs.value(layer)))
    program.graph.eliminate_dead_code()
    return Change(node, f"{activation.activation} done by the layer before it")


def _idle(layer: Node, activation: Node) -> _Layer | None:
    """Returns a layer without an activation whose results only `activation` needs; None for any other node."""
    call = PackedLinear.of(layer) or PackedConvolution.of(layer) or fused_convolutions.of(layer)
    if call is None or call.activation != "none" or not graphs.is_only_for(layer, activation):
        return None
    value = graphs.value(layer)
    return call if value.is_floating_point() and value.dtype == graphs.value(activation).dtype else None


def _activation(call: Call[Node]) -> Activation[Node] | None:
    """Returns the activation that a call computes; None for any other call."""
    match call:
        case Activation():
            return call
        case Relu(x):
            return _clamp(x, 0, None)
        case Hardtanh(x, low, high) | Clamp(x, low, high):
            return _clamp(x, low, high)
        case Sigmoid(x):
            return Activation(x, "sigmoid")
        case Tanh(x):
            return Activation(x, "tanh")
        case Gelu(x):
            return Activation(x, "gelu" if call.approximate == "none" else "gelu_tanh")
        case LeakyRelu(x, slope):
            return with_numbers(x, "leaky_relu", slope)
        case Elu(x, alpha, scale, 1):  # The kernels have no factor of the argument.
            return with_numbers(x, "elu", alpha, scale)
    return None


def _clamp(of: Node, minimum: float | Node | None, maximum: float | Node | None) -> Activation[Node] | None:
    low, high = -math.inf if minimum is None else minimum, math.inf if maximum is None else maximum
    if isinstance(low, Node) or isinstance(high, Node) or math.isnan(low) or math.isnan(high):
        return None
    return Activation(of, "clamp", float(low), float(high))


PASS = GraphPass(
    "activations",
    Stage.LOWERED,
    roots=(Activation, Clamp, Elu, Gelu, Hardtanh, LeakyRelu, Relu, Sigmoid, Tanh),
    rewrite=_rewrite,
    reference=(
        "fuses an activation (`relu`, `hardtanh`, `clamp`, `leaky_relu`, `elu`, `gelu`, `sigmoid`, `tanh`, and those "
        "of `written_activations`) into the packed linear layer or convolution before it, which applies the "
        "activation while its results are in the cache: "
        "`rules_executorch::packed_linear.out`, `packed_convolution.out` and, for convolutions that `channels_last` "
        "leaves, `fused_convolution.out`"
    ),
    after=("addends", "packed_linear", "written_activations"),
)
