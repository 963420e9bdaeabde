"""Keeps weights of linear layers quantized, to 8 bits or to 4 bits, so that a layer reads less memory.

torchao's quantize_() dequantizes such weights with `torchao::dequantize_affine`, for which programs have no kernel, or
converts all weights to floats in each call.

A weight of Char has one element in a byte; a weight of Byte has two (packing.py). Each row has a scale for each group
of its elements; all groups have the same size. Scales are Float for all dtypes of the other tensors.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.nn import functional

from export.graph_passes import affine, graphs, layouts, packing
from export.graph_passes.calls import Linear, Mm, ToDimOrderCopy, WeightOnlyLinear
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.operators.registration import fakes, implements

# If a row has several groups, the size of a group must be a multiple of this number.
_GROUP_MULTIPLE = layouts.QUANTIZED_ROW_BLOCK_BYTES


def _rewrite(program: ExportedProgram, node: Node, call: Linear[Node] | Mm[Node]) -> Change | None:
    x = graphs.value(call.input)
    if x.dtype not in affine.FLOATS or not graphs.is_contiguous(x):
        return None
    found = _of_linear(program, node, call) if isinstance(call, Linear) else _of_product(program, node, call)
    packed = _packed(found[0]) if found else None
    if found is None or packed is None:
        return None
    weight, last = found
    layer = WeightOnlyLinear(
        call.input,
        graphs.add_constant(program, f"{node.name}_weight_of_bytes", packed),
        graphs.add_constant(program, f"{node.name}_scale_of_groups", weight.scale),
        call.bias if isinstance(call, Linear) else affine.take_bias(last),
    )
    return Change(last, f"a linear layer with weights of {4 if packed.dtype == torch.uint8 else 8} bits", layer)


def _of_linear(program: ExportedProgram, node: Node, linear: Linear[Node]) -> tuple[affine.Weight, Node] | None:
    """Returns the weight of a layer that dequantizes before the product, and the call that gives the result."""
    weight = affine.Weight.of(program, linear.weight)
    return (weight, node) if weight is not None else None


def _of_product(program: ExportedProgram, node: Node, product: Mm[Node]) -> tuple[affine.Weight, Node] | None:
    """Returns the weight of a layer that scales the columns after the product, and the call that gives the result."""
    integers = affine.constant(program, ToDimOrderCopy.before(product.mat2))
    scaled = affine.scaled_columns(program, node)
    if integers is None or integers.dtype != torch.int8 or scaled is None:
        return None
    last, scale = scaled
    if graphs.value(last).dtype != graphs.value(node).dtype:
        return None
    return affine.Weight(integers.t().contiguous(), scale[:, None], 8), last


def _packed(weight: affine.Weight) -> torch.Tensor | None:
    """Returns the weight packed for the operator; None if the operator does not support the weight."""
    if weight.bits == 4 and weight.group_size % packing.BLOCK_OF_NIBBLES == 0:
        return packing.pack_nibbles(weight.integers)
    is_taken = weight.scale.shape[1] == 1 or weight.group_size % _GROUP_MULTIPLE == 0
    return weight.integers if is_taken else None


@implements(WeightOnlyLinear)
def weight_only_linear(call: WeightOnlyLinear[torch.Tensor]) -> torch.Tensor:
    integers = packing.unpack_nibbles(call.weight) if call.weight.dtype == torch.uint8 else call.weight
    values = integers * call.scale.repeat_interleave(integers.shape[1] // call.scale.shape[1], 1)
    bias = None if call.bias is None else call.bias.float()
    return functional.linear(call.input.float(), values, bias).to(call.input.dtype)


@fakes(WeightOnlyLinear)
def fake_weight_only_linear(call: WeightOnlyLinear[torch.Tensor]) -> torch.Tensor:
    return call.input.new_empty((*call.input.shape[:-1], call.weight.shape[0]))


PASS = GraphPass(
    "weight_only",
    Stage.LOWERED,
    roots=(Linear, Mm),
    rewrite=_rewrite,
    reference=(
        "keeps the weights of linear layers quantized that torchao's `quantize_()` quantized (`IntxWeightOnlyConfig`, "
        "symmetric; `Int8WeightOnlyConfig`): `rules_executorch::weight_only_linear.out`. Inputs are float32, half or "
        "bfloat16. Weights of up to 4 bits are stored two in a byte if the size of a group is a multiple of 32, and "
        "all others one in a byte. The size of a group is a multiple of 16, or a row is one group"
    ),
    after=("dynamic_linear",),
    preserved=(torch.ops.aten.linear.default,),
)
