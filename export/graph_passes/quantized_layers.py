"""Makes quantized linear layers, convolutions and averages one operator each, which multiplies bytes.

A layer has its input dequantized, its weight dequantized, and its result quantized, unless the result stays a float.
Sums of bytes are exact, those of floats are not: a result may differ by one step of its quantization from the separate
calls'. An average of pixels is a convolution whose weights are 1.

Around each convolution, images are copied to the order of its kernel, channels-last, and back: channels_of_bytes leaves
out the copies that meet.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import channels_of_bytes, graphs, packing, quantized
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_LINEAR = _ATEN.linear.default
_CONVOLUTION = _ATEN.convolution.default
_MEAN = _ATEN.mean.dim
_AVERAGE_POOL = _ATEN.avg_pool2d.default
_PAD = _ATEN.constant_pad_nd.default
# So many products of bytes are less than 2^31.
_MOST_PRODUCTS = 2**31 // (255 * 128)


def _run(program: ExportedProgram) -> list[Change]:
    if not quantized.is_quantized(program):
        return []
    from export.graph_passes import quantized_operators  # noqa: F401, registers them for programs that have them.

    changes = []
    for call in graphs.calls(program, _LINEAR, _CONVOLUTION, _MEAN, _AVERAGE_POOL):
        average = _Average.of(call) if call.target in (_MEAN, _AVERAGE_POOL) else None
        layer = _Layer.of(program, call) if average is None else _Layer.of_average(program, call, average)
        if layer is None:
            continue
        change = Change.of(call, f"{graphs.name_of(call)} of bytes")
        if call.target is _LINEAR:
            _replace_linear(program, call, layer)
        elif average is not None:
            _insert_convolution(program, call, layer, layer.input, average.window)
        else:
            _replace_convolution(program, call, layer)
        changes.append(change)
    graphs.finish(program)
    return changes


@dataclass(frozen=True)
class _Window:
    """Which pixels make a pixel: as the operator takes them, padding before each dimension and then behind each."""

    kernel_size: list[int]
    stride: list[int]
    padding: list[int]
    dilation: list[int]
    groups: int

    def as_args(self) -> tuple[Any, ...]:
        return (self.kernel_size, self.stride, self.padding, self.dilation, self.groups)


@dataclass(frozen=True)
class _Average:
    """An average of the pixels in a window, for each channel."""

    channels: int
    window: _Window
    divisor: int

    @classmethod
    def of(cls, call: graphs.Call) -> _Average | None:
        """Of a mean of all pixels, or of a pool that counts what it pads; None for any other call."""
        image = graphs.value(call.args[0])
        sizes = [size for size in image.shape[1:] if isinstance(size, int)]
        if image.dim() != 4 or len(sizes) != 3:
            return None
        channels, kernel_size = sizes[0], sizes[1:]
        stride, padding, divisor = [1, 1], [0, 0], None
        if call.target is _MEAN:
            if sorted(dim % 4 for dim in call.args[1] or ()) != [2, 3]:
                return None
        else:
            kernel_size, stride, padding, divisor = (
                graphs.argument(call, name) for name in ("kernel_size", "stride", "padding", "divisor_override")
            )
            if graphs.argument(call, "ceil_mode") or (any(padding) and not graphs.argument(call, "count_include_pad")):
                return None
        kernel_size, stride, padding = (
            list(both) * (3 - len(both)) for both in (kernel_size, stride or kernel_size, padding)
        )
        window = _Window(kernel_size, stride, [*padding, *padding], [1, 1], channels)
        return cls(channels, window, divisor or kernel_size[0] * kernel_size[1])


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
        """That of a linear layer or a convolution."""
        if call.target not in (_LINEAR, _CONVOLUTION):
            return None
        weights = _weight(program, call.args[1])
        if weights is None or (call.target is _CONVOLUTION and (call.args[6] or weights[0].dim() > 4)):
            return None
        bias_node = graphs.argument(call, "bias")
        bias = torch.zeros(weights[0].shape[0]) if bias_node is None else _values(program, bias_node)
        return None if bias is None or bias.dim() != 1 else cls._of_weight(program, call, *weights, bias)

    @classmethod
    def of_average(cls, program: ExportedProgram, call: graphs.Call, average: _Average) -> _Layer | None:
        """That of an average, which has a weight for each channel and each place of the window."""
        weight = torch.ones((average.channels, 1, *average.window.kernel_size), dtype=torch.int8)
        scale = torch.full((average.channels,), 1 / average.divisor, dtype=torch.float64)
        return cls._of_weight(program, call, weight, scale, torch.zeros(average.channels))

    @classmethod
    def _of_weight(
        cls,
        program: ExportedProgram,
        call: graphs.Call,
        weight: torch.Tensor,
        weight_scale: torch.Tensor,
        bias: torch.Tensor,
    ) -> _Layer | None:
        found = quantized.dequantized(call.args[0])
        if found is None or not graphs.is_contiguous(graphs.value(call)):
            return None
        source, parameters = found
        if weight[0].numel() > _MOST_PRODUCTS or not graphs.is_contiguous(source.meta["val"]):
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
    source, widths = _without_padding(layer, len(stride))
    both = [width + more for width, more in zip([*padding, *padding], widths, strict=True)]
    if len(stride) == 1:
        # A row is an image of that height.
        layer = dataclasses.replace(layer, weight=layer.weight.unsqueeze(2))
        stride, both, dilation = [1, *stride], [0, both[0], 0, both[1]], [1, *dilation]
    window = _Window(list(layer.weight.shape[2:]), list(stride), both, list(dilation), groups)
    _insert_convolution(program, call, layer, source, window)


def _insert_convolution(
    program: ExportedProgram, call: graphs.Call, layer: _Layer, source: Node, window: _Window
) -> None:
    weight, *constants = layer.constants(program, call.name, packing.panels_of_convolution(layer.weight, window.groups))
    result = graphs.value(layer.last)
    if graphs.value(source).dim() == 3:
        source = _viewed(layer.last, source, graphs.value(source).unsqueeze(2))
    image = channels_of_bytes.channels_last(layer.last, source)
    height, width = (
        (size + before + after - (kernel - 1) * step - 1) // stride + 1
        for size, before, after, kernel, step, stride in zip(
            graphs.value(source).shape[2:],
            window.padding[:2],
            window.padding[2:],
            window.kernel_size,
            window.dilation,
            window.stride,
            strict=True,
        )
    )
    shape = (result.shape[0], layer.scale.numel(), height, width)
    value = result.new_empty(shape).to(memory_format=torch.channels_last)
    target = graphs.EDGE.rules_executorch.quantized_convolution.default
    args = (image, weight, *constants, *window.as_args(), layer.parameters.zero_point, *layer.range())
    node = channels_of_bytes.contiguous(layer.last, graphs.insert_call(layer.last, target, args, value))
    graphs.replace(layer.last, node if result.dim() == 4 else _viewed(layer.last, node, result))


def _viewed(before: Node, source: Node, value: torch.Tensor) -> Node:
    """A view of the shape of `value`."""
    sizes = [size if isinstance(size, int) else -1 for size in value.shape]
    return graphs.insert_call(before, _ATEN.view_copy.default, (source, sizes), value)


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
