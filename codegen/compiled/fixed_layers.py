"""Layers as calls of kernels/fixed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from codegen.compiled import fixed_loops
from codegen.compiled.fixed_call import FixedCall, Operand, axis, float_literal, pair, require

_NO_CLAMP = (-math.inf, math.inf)
# The packed layouts of kernels/gemm/layouts.yaml.
_PANEL_COLUMNS = 16
_PANEL_DEPTH = 4


def _clamp(minimum: float, maximum: float) -> str:
    return f"{{{float_literal(minimum)}, {float_literal(maximum)}}}"


def _activated(call: FixedCall, layer: Callable[[str], str], out: Operand) -> str:
    """Returns a layer, which takes its bounds as C++, with the activation that the call names."""
    activation = call.text("activation")
    if activation == "clamp":
        return layer(_clamp(call.number("minimum"), call.number("maximum")))
    text = layer(_clamp(*_NO_CLAMP))
    if activation == "none":
        return text
    return text + fixed_loops.apply(out, fixed_loops.activation(call))


def _call(function: str, *arguments: str) -> str:
    return f"    fixed::{function}({', '.join(arguments)});\n"


# Linear layers.


def _linear_sizes(source: Operand, out: Operand) -> str:
    require(source.is_contiguous and out.is_contiguous and bool(source.sizes) and bool(out.sizes))
    inputs, outputs = source.sizes[-1], out.sizes[-1]
    require(source.numel // inputs == out.numel // outputs)
    return f"{{{out.numel // outputs}, {inputs}, {outputs}}}"


def _linear(call: FixedCall) -> str:
    source, weight, out = call.floats("input"), call.floats("weight"), call.floats("out")
    sizes = _linear_sizes(source, out)
    bias = call.optional_floats("bias", out.sizes[-1])
    require(weight.is_contiguous and weight.sizes == (out.sizes[-1], source.sizes[-1]))
    return _call("linear", source.name, weight.name, bias, out.name, sizes, _clamp(*_NO_CLAMP))


def _packed_linear(call: FixedCall) -> str:
    source, weight, out = call.floats("input"), call.floats("weight"), call.floats("out")
    sizes = _linear_sizes(source, out)
    bias = call.optional_floats("bias", out.sizes[-1])
    panels = math.ceil(out.sizes[-1] / _PANEL_COLUMNS)
    require(weight.is_contiguous and weight.sizes == (panels, source.sizes[-1], _PANEL_COLUMNS))
    return _activated(
        call, lambda clamp: _call("packed_linear", source.name, weight.name, bias, out.name, sizes, clamp), out
    )


def _product(call: FixedCall) -> str:
    """Matrix products, of batches and with an addend as well."""
    is_addmm = call.name == "aten::addmm.out"
    first, second = ("mat1", "mat2") if is_addmm else ("self", "mat2")
    a, b, out = call.floats(first), call.floats(second), call.floats("out")
    require(a.is_contiguous and b.is_contiguous and out.is_contiguous and len(a.sizes) >= 2 and bool(b.sizes))
    addend, addend_stride = "nullptr", 0
    if is_addmm:
        require(call.number("alpha") == call.number("beta") == 1)
        bias = call.floats("self")
        require(bias.is_contiguous and bias.sizes[-1:] == out.sizes[-1:] and bias.numel in (out.sizes[-1], out.numel))
        addend, addend_stride = bias.name, 0 if bias.numel == out.sizes[-1] else out.sizes[-1]
    *batch, rows, inner = a.sizes
    require(b.sizes[:-1] == (*batch, inner) and out.sizes == (*batch, rows, b.sizes[-1]))
    sizes = f"{{{math.prod(batch)}, {rows}, {inner}, {b.sizes[-1]}}}"
    return _call("product", a.name, b.name, addend, str(addend_stride), out.name, sizes)


def _quantized_linear(call: FixedCall) -> str:
    source, out = call.tensor("input"), call.tensor("out")
    sizes = _linear_sizes(source, out)
    weight = _bytes_weight(call, math.ceil(out.sizes[-1] / _PANEL_COLUMNS), source.sizes[-1])
    return _call(
        "quantized_linear", _quantized_input(source), weight, _quantized_output(call, out, out.sizes[-1]), sizes
    )


# Quantized layers.


def _bytes_weight(call: FixedCall, panels: int, depth: int) -> str:
    weight = call.tensor("weight", "int8")
    require(weight.sizes == (panels, math.ceil(depth / _PANEL_DEPTH), _PANEL_COLUMNS, _PANEL_DEPTH))
    require(weight.is_contiguous)
    return weight.name


def _quantized_input(source: Operand) -> str:
    require(source.dtype in ("int8", "uint8"))
    pointer = f"reinterpret_cast<const uint8_t*>({source.name})" if source.dtype == "int8" else source.name
    return f"{{{pointer}, {'0x80' if source.dtype == 'int8' else '0'}}}"


def _quantized_output(call: FixedCall, out: Operand, channels: int) -> str:
    require(out.dtype in ("int8", "uint8", "float32"))
    scale, offset = call.line("scale", channels), call.line("offset", channels)
    table = "nullptr"
    if not call.is_absent("table"):
        require(out.dtype != "float32")
        table = f"reinterpret_cast<const uint8_t*>({call.line('table', 256, out.dtype)})"
    bounds = f"{float_literal(call.number('quant_min'))}, {float_literal(call.number('quant_max'))}"
    is_float = "true" if out.dtype == "float32" else "false"
    return f"{{{out.name}, {is_float}, {scale}, {offset}, {bounds}, {table}}}"


# Images.


def _images(operand: Operand) -> str:
    require(len(operand.sizes) == 4)
    _, _, height, width = operand.sizes
    batch, channel, row, pixel = operand.strides
    # A single channel has the stride of adjacent ones, so that the inputs of a row of taps follow each other.
    channel = 1 if operand.sizes[1] == 1 else channel
    return f"{{{height}, {width}, {batch}, {channel}, {row}, {pixel}}}"


class _Taps(NamedTuple):
    """Arguments for rows and columns."""

    kernel: Sequence[int]
    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]


def _window(source: Operand, out: Operand, taps: _Taps) -> str:
    require(source.sizes[0] == out.sizes[0])
    sizes = pair(taps.kernel)
    strides, paddings, dilations = pair(taps.stride, sizes), pair(taps.padding, (0,)), pair(taps.dilation, (1,))
    axes = (f"{{{', '.join(map(str, one))}}}" for one in zip(sizes, strides, paddings, dilations, strict=True))
    return f"fixed::Window{{{out.sizes[0]}, {_images(source)}, {_images(out)}, {', '.join(axes)}}}"


def _groups(call: FixedCall, source: Operand, out: Operand) -> tuple[int, int, int]:
    """Returns the number of groups, and the inputs and the outputs of a group."""
    groups = call.integer("groups")
    require(groups > 0 and source.sizes[1] % groups == 0 and out.sizes[1] % groups == 0)
    return groups, source.sizes[1] // groups, out.sizes[1] // groups


def _has_adjacent_channels(operand: Operand) -> bool:
    return operand.sizes[1] == 1 or operand.strides[1] == 1


def _convolution(call: FixedCall) -> str:
    source, weight = call.floats("input"), call.floats("weight")
    out = call.floats("out")
    require(len(source.sizes) == len(out.sizes) == 4 and weight.is_contiguous)
    taps = _Taps(weight.sizes[2:], *(call.integers(name) for name in ("stride", "padding", "dilation")))
    window = _window(source, out, taps)
    groups, inputs, outputs = _groups(call, source, out)
    bias = call.optional_floats("bias", out.sizes[1])
    require(weight.sizes[:2] == (out.sizes[1], inputs) and len(weight.sizes) == 4)
    channels = f"{{{groups}, {inputs}, {outputs}}}"

    def layer(clamp: str) -> str:
        return _call("convolution", source.name, weight.name, bias, out.name, window, channels, clamp)

    if call.has("activation"):
        return _activated(call, layer, out)
    require(not call.number("transposed"))
    return layer(_clamp(*_NO_CLAMP))


def _packed_convolution(call: FixedCall) -> str:
    source, weight = call.floats("input"), call.floats("weight")
    addend = "nullptr" if call.is_absent("addend") else call.floats("addend")
    out = call.floats("out")
    require(len(source.sizes) == len(out.sizes) == 4 and not call.number("transposed") and _has_adjacent_channels(out))
    require(weight.is_contiguous)
    if isinstance(addend, Operand):
        require(addend.sizes == out.sizes and addend.strides == out.strides)
        addend = addend.name
    kernel = pair(call.integers("kernel_size"))
    taps = _Taps(kernel, call.integers("stride"), call.integers("padding"), call.integers("dilation"))
    window = _window(source, out, taps)
    count = math.prod(kernel)
    groups, inputs, outputs = _groups(call, source, out)
    bias = call.optional_floats("bias", out.sizes[1])
    if inputs == outputs == 1 and groups > 1:
        require(weight.sizes == (count, groups))
        name, channels = "packed_depthwise_convolution", str(groups)
    else:
        require(weight.sizes == (groups, math.ceil(outputs / _PANEL_COLUMNS), count * inputs, _PANEL_COLUMNS))
        name, channels = "packed_convolution", f"{{{groups}, {inputs}, {outputs}}}"
    return _activated(
        call,
        lambda clamp: _call(name, source.name, weight.name, bias, addend, out.name, window, channels, clamp),
        out,
    )


def _quantized_convolution(call: FixedCall) -> str:
    source, out = call.tensor("input"), call.tensor("out")
    require(len(source.sizes) == len(out.sizes) == 4 and _has_adjacent_channels(source) and _has_adjacent_channels(out))
    kernel = pair(call.integers("kernel_size"))
    taps = _Taps(kernel, call.integers("stride"), call.integers("padding")[:2], call.integers("dilation"))
    window = _window(source, out, taps)
    groups, inputs, outputs = _groups(call, source, out)
    if inputs == outputs == 1:
        rows, columns = kernel
        depth = columns * math.ceil(rows / _PANEL_DEPTH) * _PANEL_DEPTH
        weight = _bytes_weight(call, math.ceil(groups / _PANEL_COLUMNS), depth)
        name, channels = "quantized_depthwise_convolution", str(groups)
    else:
        panels = groups * math.ceil(outputs / _PANEL_COLUMNS)
        weight = _bytes_weight(call, panels, inputs * math.prod(kernel))
        name, channels = "quantized_convolution", f"{{{groups}, {inputs}, {outputs}}}"
    zero_point = f"static_cast<uint8_t>({call.integer('input_zero_point')})"
    return _call(
        name, _quantized_input(source), weight, _quantized_output(call, out, out.sizes[1]), window, channels, zero_point
    )


def _max_pool(call: FixedCall) -> str:
    source, out = call.floats("self"), call.floats("out")
    # The kernel does not find the indices.
    require(len(source.sizes) == 4 and source.sizes[:2] == out.sizes[:2] and not call.is_read("indices"))
    window = _window(source, out, _Taps(*map(call.integers, ("kernel_size", "stride", "padding", "dilation"))))
    return _call("max_pool", source.name, out.name, window, str(out.sizes[1]))


def _avg_pool(call: FixedCall) -> str:
    source, out = call.floats("self"), call.floats("out")
    require(len(source.sizes) == 4 and source.sizes[:2] == out.sizes[:2])
    taps = _Taps(call.integers("kernel_size"), call.integers("stride"), call.integers("padding"), (1,))
    window = _window(source, out, taps)
    with_padding = "true" if call.number("count_include_pad") else "false"
    divisor = str(int(call.optional_number("divisor_override") or 0))
    return _call("avg_pool", source.name, out.name, window, str(out.sizes[1]), with_padding, divisor)


# Lines.


def _softmax(function: str) -> Callable[[FixedCall], str]:
    def statements(call: FixedCall) -> str:
        source, out = call.floats("self"), call.floats("out")
        require(source.sizes == out.sizes and source.is_contiguous and out.is_contiguous and bool(out.sizes))
        d = axis(call.integer("dim"), len(out.sizes))
        inner = math.prod(out.sizes[d + 1 :])
        sizes = f"{{{out.numel // inner // out.sizes[d]}, {out.sizes[d]}, {inner}}}"
        return _call(function, source.name, out.name, sizes)

    return statements


def _layer_norm(call: FixedCall) -> str:
    source, out = call.floats("input"), call.floats("out0")
    require(not call.is_read("out1") and not call.is_read("out2") and source.is_contiguous and out.is_contiguous)
    shape = tuple(call.integers("normalized_shape"))
    require(source.sizes == out.sizes and bool(shape) and source.sizes[-len(shape) :] == shape)
    count = math.prod(shape)
    weight, bias = call.optional_floats("weight", count), call.optional_floats("bias", count)
    sizes = f"{out.numel // count}, {count}"
    return _call("layer_norm", source.name, weight, bias, out.name, sizes, float_literal(call.number("eps")))


# The header in kernels/fixed and the function of each operator.
_LAYERS: Mapping[str, tuple[str, Callable[[FixedCall], str]]] = {
    "aten::_log_softmax.out": ("normalization", _softmax("log_softmax")),
    "aten::_softmax.out": ("normalization", _softmax("softmax")),
    "aten::addmm.out": ("linear", _product),
    "aten::avg_pool2d.out": ("pooling", _avg_pool),
    "aten::bmm.out": ("linear", _product),
    "aten::convolution.out": ("convolution", _convolution),
    "aten::linear.out": ("linear", _linear),
    "aten::max_pool2d_with_indices.out": ("pooling", _max_pool),
    "aten::mm.out": ("linear", _product),
    "aten::native_layer_norm.out": ("normalization", _layer_norm),
    "rules_executorch::fused_convolution.out": ("convolution", _convolution),
    "rules_executorch::packed_convolution.out": ("convolution", _packed_convolution),
    "rules_executorch::packed_linear.out": ("linear", _packed_linear),
    "rules_executorch::quantized_convolution.out": ("quantized", _quantized_convolution),
    "rules_executorch::quantized_linear.out": ("quantized", _quantized_linear),
}


def statements(call: FixedCall) -> tuple[str, str]:
    """Returns the statements of a call, and the header in kernels/fixed that they need, if they need one.

    Raises:
        GeneralCallError: the call needs the general kernel.
    """
    if call.name not in _LAYERS:
        return fixed_loops.statements(call), ""
    header, layer = _LAYERS[call.name]
    return layer(call), header
