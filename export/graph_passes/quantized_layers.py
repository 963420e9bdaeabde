"""Makes quantized linear layers and convolutions one operator each, which multiplies bytes.

A layer has its input dequantized, its weight dequantized, and its result quantized, unless the result stays a float.
Sums of bytes are exact, those of floats are not: a result may differ by one step of its quantization from the separate
calls'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, packing, quantized
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_LINEAR = _ATEN.linear.default
_CONVOLUTION = _ATEN.convolution.default
_PAD = _ATEN.constant_pad_nd.default
# So many products of bytes are less than 2^31.
_MOST_PRODUCTS = 2**31 // (255 * 128)


def _run(program: ExportedProgram) -> list[Change]:
    if not quantized.is_quantized(program):
        return []
    from export.graph_passes import quantized_operators  # noqa: F401, registers them for programs that have them.

    changes = []
    for call in graphs.calls(program, _LINEAR, _CONVOLUTION):
        layer = _Layer.of(program, call)
        if layer is None:
            continue
        change = Change.of(call, f"{graphs.name_of(call)} of bytes")
        if call.target is _LINEAR:
            _replace_linear(program, call, layer)
        else:
            _replace_convolution(program, call, layer)
        changes.append(change)
    graphs.finish(program)
    return changes


@dataclass(frozen=True)
class _Layer:
    """What a layer's operator is made of.

    Attributes:
        input: the bytes.
        parameters: of the input.
        weight: of Char.
        scale: what a sum of products of channels' weights and Bytes is multiplied with.
        offset: what is added.
        result: what becomes of the sums.
        table: what becomes of the bytes of the result.
        last: the call whose value the operator gives.
    """

    input: Node
    parameters: quantized.Parameters
    weight: torch.Tensor
    scale: torch.Tensor
    offset: torch.Tensor
    result: quantized.Result
    table: torch.Tensor | None
    last: Node

    @classmethod
    def of(cls, program: ExportedProgram, call: graphs.Call) -> _Layer | None:
        found = quantized.dequantized(call.args[0])
        weights = _weight(program, call.args[1])
        if found is None or weights is None or not graphs.is_contiguous(graphs.value(call)):
            return None
        (source, parameters), (weight, weight_scale) = found, weights
        bias_node = graphs.argument(call, "bias")
        bias = torch.zeros(weight.shape[0]) if bias_node is None else _values(program, bias_node)
        products = weight[0].numel()
        if bias is None or bias.dim() != 1 or products > _MOST_PRODUCTS or not graphs.is_contiguous(source.meta["val"]):
            return None
        if call.target is _CONVOLUTION and (call.args[6] or weight.dim() > 4):
            return None
        result = quantized.Result.of(call)
        of_result = result.parameters
        scale = parameters.scale * weight_scale.double() / (of_result.scale if of_result else 1)
        sums = weight.reshape(weight.shape[0], -1).sum(1, dtype=torch.int64)
        offset = bias.double() / (of_result.scale if of_result else 1) - parameters.byte_zero_point * sums * scale
        if of_result:
            offset += of_result.zero_point
        table, last = _table(program, result)
        return cls(source, parameters, weight, scale.float(), offset.float(), result, table, last)

    def constants(self, program: ExportedProgram, name: str, weight: torch.Tensor) -> tuple[Node | None, ...]:
        tensors = {"weight": weight, "scale": self.scale, "offset": self.offset, "table": self.table}
        return tuple(
            None if tensor is None else graphs.add_constant(program, f"{name}_{what}_of_bytes", tensor)
            for what, tensor in tensors.items()
        )

    def range(self) -> tuple[int, int, torch.dtype]:
        return self.result.quant_min, self.result.quant_max, self.result.dtype


def _weight(program: ExportedProgram, node: Any) -> tuple[torch.Tensor, torch.Tensor] | None:
    """A weight of Char that is as large on both sides of zero, and the scales of its channels, its first dimension."""
    if not isinstance(node, Node) or node.op != "call_function":
        return None
    name = graphs.name_of(node)
    weight = graphs.constant(program, node.args[0])
    if weight is None or weight.dtype != torch.int8 or graphs.value(node).dtype != torch.float32:
        return None
    if name == "quantized_decomposed::dequantize_per_channel" and graphs.argument(node, "axis") == 0:
        scales, zero_points = (
            graphs.constant(program, graphs.argument(node, one)) for one in ("scales", "zero_points")
        )
        has_zero_points = graphs.argument(node, "zero_points") is not None
        if scales is None or (has_zero_points and (zero_points is None or torch.count_nonzero(zero_points))):
            return None
        return weight, scales
    found = quantized.dequantized(node)
    if found is not None and found[1].zero_point == 0:
        return weight, torch.full((weight.shape[0],), found[1].scale, dtype=torch.float64)
    return None


def _values(program: ExportedProgram, node: Node) -> torch.Tensor | None:
    """The elements of a constant, or of one that is dequantized."""
    tensor = graphs.constant(program, node)
    if tensor is None and graphs.name_of(node).startswith("quantized_decomposed::dequantize_per_"):
        args = [graphs.constant(program, one) if isinstance(one, Node) else one for one in node.args]
        if all(value is not None or one is None for value, one in zip(args, node.args, strict=True)):
            target: Any = node.target
            tensor = target(*args, **node.kwargs)
    return tensor


def _table(program: ExportedProgram, result: quantized.Result) -> tuple[torch.Tensor | None, Node]:
    """What a lookup makes of the bytes of the result, if nothing else reads these."""
    last = result.node
    users: Sequence[graphs.Call] = list(last.users)
    if result.parameters is None or len(users) != 1 or graphs.name_of(users[0]) != "rules_executorch::quantized_lookup":
        return None, last
    table = graphs.constant(program, users[0].args[1])
    if table is None or table.dtype != result.dtype:
        return None, last
    return table, users[0]


def _replace_linear(program: ExportedProgram, call: graphs.Call, layer: _Layer) -> None:
    constants = layer.constants(program, call.name, packing.panels_of_rows(layer.weight))
    target = graphs.EDGE.rules_executorch.quantized_linear.default
    args = (layer.input, *constants, *layer.range())
    graphs.replace(layer.last, graphs.insert_call(layer.last, target, args, graphs.value(layer.last)))


def _replace_convolution(program: ExportedProgram, call: graphs.Call, layer: _Layer) -> None:
    _, _, _, stride, padding, dilation, _, _, groups = call.args
    constants = layer.constants(program, call.name, layer.weight)
    source, widths = _without_padding(layer, len(stride))
    both = [width + more for width, more in zip([*padding, *padding], widths, strict=True)]
    target = graphs.EDGE.rules_executorch.quantized_convolution.default
    args = (source, *constants, stride, both, dilation, groups, layer.parameters.zero_point, *layer.range())
    graphs.replace(layer.last, graphs.insert_call(layer.last, target, args, graphs.value(layer.last)))


def _without_padding(layer: _Layer, dims: int) -> tuple[Node, list[int]]:
    """The input before a call pads it with what stands for zero, and how wide, before and behind each dimension."""
    pad: graphs.Call = layer.input
    none = [0] * (2 * dims)
    if pad.target is not _PAD or graphs.argument(pad, "value") != layer.parameters.zero_point:
        return pad, none
    widths = list(pad.args[1])
    if len(widths) > 2 * dims or not all(isinstance(width, int) and width >= 0 for width in widths):
        return pad, none
    # From the last dimension on: before, behind.
    widths += [0] * (2 * dims - len(widths))
    return pad.args[0], [*widths[-2::-2], *widths[::-2]]


PASS = GraphPass("quantized_layers", Stage.LOWERED, _run, preserved=(torch.ops.aten.linear.default,))
