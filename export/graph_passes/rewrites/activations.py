"""Fuses activations into the layers before them, which apply the activation while the results are in the cache."""

from __future__ import annotations

import math

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, fused_convolutions, graphs
from export.graph_passes.call import Call
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.rewrites.written_activations import with_numbers

_Layer = calls.FusedConvolution[Node] | calls.PackedConvolution[Node] | calls.PackedLinear[Node]


def _rewrite(program: ExportedProgram, node: Node, call: Call[Node]) -> Change | None:
    activation = _activation(call)
    layer = calls.ViewCopy.before(activation.input) if activation else None
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
    call = calls.PackedLinear.of(layer) or calls.PackedConvolution.of(layer) or fused_convolutions.of(layer)
    if call is None or call.activation != "none" or not graphs.is_only_for(layer, activation):
        return None
    value = graphs.value(layer)
    return call if value.is_floating_point() and value.dtype == graphs.value(activation).dtype else None


def _activation(call: Call[Node]) -> calls.Activation[Node] | None:
    """Returns the activation that a call computes; None for any other call."""
    match call:
        case calls.Activation():
            return call
        case calls.Relu(x):
            return _clamp(x, 0, None)
        case calls.Hardtanh(x, low, high) | calls.Clamp(x, low, high):
            return _clamp(x, low, high)
        case calls.Sigmoid(x):
            return calls.Activation(x, "sigmoid")
        case calls.Tanh(x):
            return calls.Activation(x, "tanh")
        case calls.Gelu(x):
            return calls.Activation(x, "gelu" if call.approximate == "none" else "gelu_tanh")
        case calls.LeakyRelu(x, slope):
            return with_numbers(x, "leaky_relu", slope)
        case calls.Elu(x, alpha, scale, 1):  # The kernels have no factor of the argument.
            return with_numbers(x, "elu", alpha, scale)
    return None


def _clamp(of: Node, minimum: float | Node | None, maximum: float | Node | None) -> calls.Activation[Node] | None:
    low, high = -math.inf if minimum is None else minimum, math.inf if maximum is None else maximum
    if isinstance(low, Node) or isinstance(high, Node) or math.isnan(low) or math.isnan(high):
        return None
    return calls.Activation(of, "clamp", float(low), float(high))


PASS = GraphPass(
    "activations",
    Stage.LOWERED,
    roots=(
        calls.Activation,
        calls.Clamp,
        calls.Elu,
        calls.Gelu,
        calls.Hardtanh,
        calls.LeakyRelu,
        calls.Relu,
        calls.Sigmoid,
        calls.Tanh,
    ),
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
