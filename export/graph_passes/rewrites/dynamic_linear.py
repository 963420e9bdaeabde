"""Fuses linear layers with dynamic quantization of the input into one operator, which multiplies bytes.

torchao's quantize_() calls operators for which programs have no kernel: `torchao::choose_qparams_affine`,
`quantize_affine` and `dequantize_affine`. With weights of 8 bits, torchao may multiply Chars by `aten::_int_mm`. On
processors with products of bytes, torchao adds 128 to the Chars, and multiplies Bytes.

The operator quantizes each row of the input to Chars, with a scale and a zero point for each row. A weight of Char has
one element in a byte; a weight of Byte has two. Each output feature has a scale for each group of its weights; all
groups have the same size. Each output feature also has an offset: the sum of its weights, times their scales. The
operator calculates in float32 and rounds once. Scales, offsets and, if necessary, biases are Float for all input
dtypes. packing.py has the layouts of weights and scales.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.nn import functional

from export.graph_passes import affine, calls, graphs, layouts, packing
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.operators.registration import fakes, implements

# If a row has several groups, the size of a group must be a multiple of this number.
_GROUP_MULTIPLE = layouts.BYTE_PANEL_ROW_MULTIPLE
# The difference between a Char and the Byte that processors multiply.
_SHIFT = 128
# The clamps of the smallest and the largest value of a row: the range of the quantization contains 0.
_SIGNS = ((None, 0.0), (0.0, None))


@dataclass(frozen=True)
class _Layer:
    """A layer that several calls compute. `last` gives the result, as a matrix of rows if `is_flat`."""

    rows: affine.Rows
    weight: affine.Weight
    bias: Node | None
    last: Node
    is_flat: bool


def _rewrite(program: ExportedProgram, node: Node, call: calls.IntMm[Node] | calls.Linear[Node]) -> Change | None:
    layer = _of_integers(program, node, call) if isinstance(call, calls.IntMm) else _of_floats(program, node, call)
    if layer is None:
        return None
    weight = layer.weight
    if weight.scale.shape[1] != 1 and weight.group_size % _GROUP_MULTIPLE != 0:
        return None
    offset = (weight.integers.unflatten(1, (-1, weight.group_size)).sum(2) * weight.scale.double()).sum(1).float()
    panels = packing.panels_of_dynamic_rows(weight.integers, weight.bits)
    scale = packing.panels_of_columns(weight.scale)
    product = calls.DynamicLinear(
        layer.rows.input,
        graphs.add_constant(program, f"{node.name}_panels_of_bytes", panels),
        graphs.add_constant(program, f"{node.name}_scale_of_groups", scale),
        graphs.add_constant(program, f"{node.name}_offset_of_zero_points", offset),
        layer.bias,
        layer.rows.is_symmetric,
        layer.rows.eps,
    )
    x = graphs.value(layer.rows.input)
    result = product.insert(layer.last, x.new_empty((*x.shape[:-1], len(offset))))
    by = calls.ViewCopy(result, (-1, len(offset))) if layer.is_flat else result
    return Change(layer.last, f"a linear layer of quantized rows and weights of {weight.bits} bits", by)


def _of_floats(program: ExportedProgram, node: Node, linear: calls.Linear[Node]) -> _Layer | None:
    """Matches a linear layer of a dequantized input and a dequantized weight."""
    dequantize = calls.DequantizeAffine.of(linear.input)
    quantize = calls.QuantizeAffine.of(dequantize.input) if dequantize else None
    if dequantize is None or quantize is None:
        return None
    rows, weight = affine.Rows.of(dequantize.input), affine.Weight.of(program, linear.weight)
    if rows is None or weight is None or graphs.value(linear.input).dtype != graphs.value(rows.input).dtype:
        return None
    before, after = ((one.block_size, one.scale, one.zero_point) for one in (quantize, dequantize))
    return _Layer(rows, weight, linear.bias, node, is_flat=False) if before == after else None


def _of_integers(program: ExportedProgram, node: Node, product: calls.IntMm[Node]) -> _Layer | None:
    """Matches a product of Chars, or of Bytes with 128 added, that is then multiplied by the scales."""
    integers = affine.constant(program, product.mat2)
    source, shift = calls.ToDimOrderCopy.before(product.input), 0
    add = calls.AddTensor.of(source) or calls.AddScalar.of(source)
    if add is not None and add.alpha == 1:
        added = calls.ToDimOrderCopy.before(add.other) if isinstance(add.other, Node) else add.other
        if graphs.number(program, added) != _SHIFT:
            return None
        source, shift = add.input, _SHIFT
    rows = affine.Rows.of(calls.ViewCopy.before(calls.ToDimOrderCopy.before(source)))
    if rows is None or integers is None or integers.dtype != torch.int8:
        return None
    sums: Node | None = node
    if shift:
        sums = graphs.only_user(node)
        subtract = calls.SubTensor.of(sums)
        more = affine.constant(program, subtract.other) if subtract and subtract.alpha == 1 else None
        if more is None or not torch.equal(more.flatten().long(), shift * integers.long().sum(0)):
            return None
    floats = affine.only_cast(sums, {torch.float32}) if sums is not None else None
    of_rows = graphs.only_user(floats) if floats is not None else None
    by_scale = calls.MulTensor.of(of_rows)
    if of_rows is None or by_scale is None:
        return None
    if rows.scale not in [calls.ViewCopy.before(operand) for operand in (by_scale.input, by_scale.other)]:
        return None
    scaled = affine.scaled_columns(program, of_rows)
    if scaled is None:
        return None
    last, scale = scaled
    weight = affine.Weight(integers.t().contiguous(), scale[:, None], 8)
    x = graphs.value(rows.input)
    if x.dtype == graphs.value(last).dtype:
        return _Layer(rows, weight, affine.take_bias(last), last, is_flat=True)
    rounded = affine.rounded(last, x.dtype)
    if rounded is None:
        return None
    last, bias = rounded
    is_whole = graphs.same_sizes(graphs.value(last).shape[:-1], x.shape[:-1])
    if not is_whole and graphs.value(last).dim() != 2:
        return None
    return _Layer(rows, weight, bias, last, is_flat=not is_whole)


@implements(calls.DynamicLinear)
def dynamic_linear(call: calls.DynamicLinear[torch.Tensor]) -> torch.Tensor:
    floats, features = call.input.float(), call.offset.numel()
    low, high = (
        limit.clamp(*bounds) for limit, bounds in zip(floats.aminmax(dim=-1, keepdim=True), _SIGNS, strict=True)
    )
    scales = (torch.maximum(-low, high) / 127.5 if call.is_symmetric else (high - low) / 255.0).clamp(min=call.eps)
    zero_points = torch.zeros_like(scales) if call.is_symmetric else (-128 - torch.round(low / scales)).clamp(-128, 127)
    quantized = (torch.round(floats * (1.0 / scales)) + zero_points).clamp(-128, 127)
    integers = packing.rows_of_dynamic_panels(call.weight, features, call.input.shape[-1])
    groups = packing.columns_of_panels(call.scale, features)
    values = integers * groups.repeat_interleave(integers.shape[1] // groups.shape[1], 1)
    sums = functional.linear(quantized.double() + 128, values.double()) - (zero_points.double() + 128) * call.offset
    result = (sums * scales).float()
    return (result if call.bias is None else result + call.bias).to(call.input.dtype)


@fakes(calls.DynamicLinear)
def fake_dynamic_linear(call: calls.DynamicLinear[torch.Tensor]) -> torch.Tensor:
    return call.input.new_empty((*call.input.shape[:-1], call.offset.shape[0]))


PASS = GraphPass(
    "dynamic_linear",
    Stage.LOWERED,
    roots=(calls.IntMm, calls.Linear),
    rewrite=_rewrite,
    reference=(
        "fuses linear layers whose input torchao's `quantize_()` quantizes at run time, with a scale for each row, "
        "into `rules_executorch::dynamic_linear.out`, which multiplies bytes (`Int8DynamicActivationInt8WeightConfig`; "
        "`Int8DynamicActivationIntxWeightConfig`, which ExecuTorch's Llama calls `8da4w` with weights of 4 bits). "
        "Inputs are float32, half or bfloat16. The size of a group of weights is a multiple of 8, or a row is one group"
    ),
    after=("constants",),
    preserved=(torch.ops.aten.linear.default,),
)
