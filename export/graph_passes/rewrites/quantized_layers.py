"""Fuses quantized linear layers, convolutions and averages into one operator each, which multiplies bytes.

A quantized layer dequantizes its input and its weight, and quantizes its result, unless the result stays a float. Sums
of bytes are exact, and sums of floats are not, so a result may differ by one quantization step from the separate calls.
An average of pixels is a convolution with weights of 1.

The pass copies the image to channels-last before each convolution, and back after the convolution. The pass
channels_of_bytes removes copies that cancel each other.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, dim_orders, fused_convolutions, graphs, packing, quantized
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.operators import windows

# The sum of so many products of bytes is less than 2^31.
_MOST_PRODUCTS = 2**31 // (255 * 128)


def _rewrite(program: ExportedProgram, node: Node, _: object) -> Change | None:
    average, linear, convolution = _Average.of(node), calls.Linear.of(node), fused_convolutions.of(node)
    if average is not None:
        layer = _Layer.of_average(program, node, average)
    else:
        layer = _Layer.of(program, node, convolution or linear)
    if layer is None:
        return None
    if average is not None:
        _insert_convolution(program, node, layer, layer.input, average.window)
    elif convolution is not None:
        _replace_convolution(program, node, layer, convolution)
    else:
        _replace_linear(program, node, layer)
    return Change(node, f"{graphs.name_of(node)} of bytes")


@dataclass(frozen=True)
class _Window:
    """The window of a convolution or a pool. `padding` has the widths before each dimension, then after each."""

    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int


@dataclass(frozen=True)
class _Average:
    """An average of the pixels in a window, for each channel."""

    input: Node
    channels: int
    window: _Window
    divisor: int

    @classmethod
    def of(cls, node: Node) -> _Average | None:
        """Matches a mean of all pixels, or an average pool that counts its padding; None for any other call."""
        mean, pool = calls.MeanDim.of(node), calls.AvgPool2d.of(node)
        call = mean or pool
        image = graphs.value(call.input) if call else None
        sizes = [] if image is None else [size for size in image.shape[1:] if isinstance(size, int)]
        if call is None or image is None or image.dim() != 4 or len(sizes) != 3 or 0 in sizes:
            return None
        channels, height, width = sizes
        if mean is not None:
            window = _Window((height, width), (1, 1), (0, 0, 0, 0), (1, 1), channels)
            return cls(mean.input, channels, window, height * width) if sorted(mean.dim or ()) == [2, 3] else None
        assert pool is not None
        if pool.ceil_mode or (any(pool.padding) and not pool.count_include_pad):
            return None
        window = _Window(pool.kernel_size, pool.stride, (*pool.padding, *pool.padding), (1, 1), channels)
        return cls(pool.input, channels, window, pool.divisor_override or pool.kernel_size[0] * pool.kernel_size[1])


@dataclass(frozen=True)
class _Layer:
    """The arguments of a layer's operator.

    Attributes:
        input: the bytes of the input.
        parameters: the quantization parameters of the input.
        weight: the weight, Char.
        scale: the factor of the sum of products of weights and Bytes, for each output channel.
        offset: the term that is added to the scaled sum, for each output channel.
        result: the activation and the quantization after the layer.
        table: the table for the bytes of the result; None for none.
        last: the last call that the operator replaces.
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
    def of(
        cls, program: ExportedProgram, node: Node, call: calls.Linear[Node] | calls.FusedConvolution[Node] | None
    ) -> _Layer | None:
        """Returns the layer of a linear layer or a convolution; None if the operator does not support it."""
        weights = _weight(program, call.weight) if call else None
        if call is None or weights is None or not 2 <= weights[0].dim() <= 4:
            return None
        bias = torch.zeros(weights[0].shape[0]) if call.bias is None else _values(program, call.bias)
        return None if bias is None or bias.dim() != 1 else cls._of_weight(program, node, call.input, *weights, bias)

    @classmethod
    def of_average(cls, program: ExportedProgram, node: Node, average: _Average) -> _Layer | None:
        """Returns the layer of an average: a depthwise convolution with weights of 1."""
        weight = torch.ones((average.channels, 1, *average.window.kernel_size), dtype=torch.int8)
        scale = torch.full((average.channels,), 1 / average.divisor, dtype=torch.float64)
        return cls._of_weight(program, node, average.input, weight, scale, torch.zeros(average.channels))

    @classmethod
    def _of_weight(  # noqa: PLR0917
        cls,
        program: ExportedProgram,
        node: Node,
        floats: Node,
        weight: torch.Tensor,
        weight_scale: torch.Tensor,
        bias: torch.Tensor,
    ) -> _Layer | None:
        found = quantized.dequantized(floats)
        if found is None or not graphs.is_contiguous(graphs.value(node)):
            return None
        source, parameters = found
        if weight[0].numel() > _MOST_PRODUCTS or not graphs.is_contiguous(source.meta["val"]):
            return None
        result = quantized.Result.of(node)
        of_result = result.parameters
        scale = parameters.scale * weight_scale.double() / (of_result.scale if of_result else 1)
        sums = weight.reshape(weight.shape[0], -1).sum(1, dtype=torch.int64)
        offset = bias.double() / (of_result.scale if of_result else 1) - parameters.byte_zero_point * sums * scale
        if of_result:
            offset += of_result.zero_point
        table, last = _table(program, result)
        return cls(source, parameters, weight, scale.float(), offset.float(), result, table, last)

    def constants(
        self, program: ExportedProgram, name: str, weight: torch.Tensor
    ) -> tuple[Node, Node, Node, Node | None]:
        """Adds the packed weight, the scale, the offset and the table to the program as constants."""

        def add(what: str, tensor: torch.Tensor) -> Node:
            return graphs.add_constant(program, f"{name}_{what}_of_bytes", tensor)

        table = None if self.table is None else add("table", self.table)
        return add("weight", weight), add("scale", self.scale), add("offset", self.offset), table


def _weight(program: ExportedProgram, node: Node) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Returns a symmetric weight of Char and its scales for each output channel, dimension 0; None for any other."""
    per_channel, per_tensor = calls.DequantizePerChannel.of(node), calls.DequantizePerTensor.of(node)
    call = per_channel or per_tensor
    weight = graphs.weight(program, call.input) if call else None
    if weight is None or weight.dtype != torch.int8 or graphs.value(node).dtype != torch.float32:
        return None
    if per_channel is not None and per_channel.axis == 0:
        scales, zero_points = (graphs.constant(program, one) for one in (per_channel.scales, per_channel.zero_points))
        has_zero_points = per_channel.zero_points is not None
        if scales is None or (has_zero_points and (zero_points is None or torch.count_nonzero(zero_points))):
            return None
        return weight, scales
    parameters = quantized.Parameters.of(per_tensor)
    if parameters is not None and parameters.zero_point == 0:
        return weight, torch.full((weight.shape[0],), parameters.scale, dtype=torch.float64)
    return None


def _values(program: ExportedProgram, node: Node) -> torch.Tensor | None:
    """Returns the elements of a constant or of a dequantized constant; None for any other node."""
    tensor = graphs.constant(program, node)
    call: graphs.Call = node
    if tensor is None and (calls.DequantizePerChannel.of(node) or calls.DequantizePerTensor.of(node)):
        elements = {one: graphs.constant(program, one) for one in node.all_input_nodes}
        if all(one is not None for one in elements.values()):
            args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), elements.__getitem__)
            tensor = call.target(*args, **kwargs)
    return tensor


def _table(program: ExportedProgram, result: quantized.Result) -> tuple[torch.Tensor | None, Node]:
    """Returns the table and the call of a lookup that is a result's only user; otherwise None and the result's node."""
    last = result.node
    user = graphs.only_user(last)
    lookup = calls.QuantizedLookup.of(user)
    table = graphs.constant(program, lookup.table) if lookup else None
    if result.parameters is None or user is None or table is None or table.dtype != result.dtype:
        return None, last
    return table, user


def _replace_linear(program: ExportedProgram, node: Node, layer: _Layer) -> None:
    call = calls.QuantizedLinear(
        layer.input,
        *layer.constants(program, node.name, packing.panels_of_rows(layer.weight)),
        layer.result.quant_min,
        layer.result.quant_max,
        layer.result.dtype,
    )
    graphs.replace(layer.last, call.insert(layer.last, graphs.value(layer.last)))


def _replace_convolution(
    program: ExportedProgram, node: Node, layer: _Layer, convolution: calls.FusedConvolution[Node]
) -> None:
    stride, dilation = convolution.stride, convolution.dilation
    source, widths = _without_padding(layer, len(stride))
    ends = (*convolution.padding, *convolution.end_padding)
    padding = tuple(width + more for width, more in zip(ends, widths, strict=True))
    if len(stride) == 1:
        # A line becomes an image with one row.
        layer = dataclasses.replace(layer, weight=layer.weight.unsqueeze(2))
        stride, padding, dilation = (1, *stride), (0, padding[0], 0, padding[1]), (1, *dilation)
    window = _Window(tuple(layer.weight.shape[2:]), stride, padding, dilation, convolution.groups)
    _insert_convolution(program, node, layer, source, window)


def _insert_convolution(program: ExportedProgram, node: Node, layer: _Layer, source: Node, window: _Window) -> None:
    constants = layer.constants(program, node.name, packing.panels_of_convolution(layer.weight, window.groups))
    result = graphs.value(layer.last)
    if graphs.value(source).dim() == 3:
        source = _viewed(layer.last, source, graphs.value(source).unsqueeze(2))
    image = dim_orders.channels_last(layer.last, source)
    image_sizes = graphs.value(source).shape[2:]
    sizes = windows.sizes(image_sizes, window.padding, window.kernel_size, window.stride, window.dilation)
    value = result.new_empty((result.shape[0], layer.scale.numel(), *sizes)).to(memory_format=torch.channels_last)
    call = calls.QuantizedConvolution(
        image,
        *constants,
        window.kernel_size,
        window.stride,
        window.padding,
        window.dilation,
        window.groups,
        layer.parameters.zero_point,
        layer.result.quant_min,
        layer.result.quant_max,
        layer.result.dtype,
    )
    last = dim_orders.contiguous(layer.last, call.insert(layer.last, value))
    graphs.replace(layer.last, last if result.dim() == 4 else _viewed(layer.last, last, result))


def _viewed(before: Node, source: Node, value: torch.Tensor) -> Node:
    """Inserts a view of a tensor before a node, with the shape of `value`."""
    sizes = tuple(size if isinstance(size, int) else -1 for size in value.shape)
    return calls.ViewCopy(source, sizes).insert(before, value)


def _without_padding(layer: _Layer, dims: int) -> tuple[Node, list[int]]:
    """Returns the input before padding with the zero point, and the widths before each dimension, then after each."""
    pad = calls.ConstantPadNd.of(layer.input)
    none = [0] * (2 * dims)
    if pad is None or pad.value != layer.parameters.zero_point:
        return layer.input, none
    widths = [width for width in pad.pad if isinstance(width, int) and width >= 0]
    if len(pad.pad) > 2 * dims or len(widths) != len(pad.pad):
        return layer.input, none
    # ConstantPadNd has widths from the last dimension to the first: before, after.
    widths += [0] * (2 * dims - len(widths))
    return pad.input, [*widths[-2::-2], *widths[::-2]]


PASS = GraphPass(
    "quantized_layers",
    Stage.LOWERED,
    roots=(calls.AvgPool2d, calls.Convolution, calls.Linear, calls.MeanDim),
    rewrite=_rewrite,
    reference=(
        "fuses `dequantize`, `linear` or `convolution`, `relu` or `hardtanh`, `quantize` and a table after them into "
        "one operator of bytes: `rules_executorch::quantized_linear.out` or `quantized_convolution.out`, with the "
        "padding before it. Does the same for a `mean` of all pixels, and for `avg_pool2d`. Activations are int8 or "
        "uint8, with one scale. Weights are int8 with zero points of 0, with one scale or one for each channel. The "
        "result may stay a float"
    ),
    after=("quantized_tables",),
    preserved=(torch.ops.aten.linear.default,),
)
