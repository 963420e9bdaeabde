"""Which convolutions read and write channels-last tensors, with their weights in the order in which the kernel reads.

They sum up products of neighbors: of the channels of a pixel, and of a row of weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.channels_last_layer import Layer

# Input channels up to which the kernel copies its input, whatever the order: kFewChannels of op_packed_convolution.cpp.
_FEW_CHANNELS = 8
_DTYPES = frozenset({torch.float32, torch.float16, torch.bfloat16})
# By how much the weights of a group may grow.
_MOST_SHARE = 2


def layer(program: ExportedProgram, call: graphs.Call) -> Layer | None:
    """How a call convolves channels-last tensors; None if it is no convolution that the kernel has."""
    name = graphs.name_of(call)
    if name == "aten::convolution":
        source, weight_node, bias, stride, padding, dilation, is_transposed, _, groups = call.args
        end_padding, activation = padding, ()
    elif name == "rules_executorch::fused_convolution":
        source, weight_node, bias, stride, padding, end_padding, dilation, groups, *activation = call.args
        is_transposed = False
    else:
        return None
    weight = graphs.constant(program, weight_node)
    if weight is None or weight.dtype not in _DTYPES or weight.dim() != 4 or is_transposed:
        return None
    channels, out_channels = weight.shape[1] * groups, weight.shape[0]

    from export.graph_passes import packed_convolution_operator as operator  # Registers it, for programs with it only.

    if not operator.is_depthwise(channels, out_channels, groups) and groups > 1:
        share = operator.filled_channels(out_channels // groups) / (out_channels // groups)
        if share > _MOST_SHARE:
            return None

    def insert(inputs: Sequence[Node]) -> Node:
        packed = graphs.add_constant(program, f"{call.name}_weight_packed", operator.pack(weight, groups))
        parameters = (_pair(stride), _pair(padding), _pair(end_padding), _pair(dilation), groups)
        target: Any = graphs.EDGE.rules_executorch.packed_convolution.default
        args = (inputs[0], packed, bias, None, list(weight.shape[2:]), out_channels, *parameters, *activation)
        result = graphs.value(call).to(memory_format=torch.channels_last)
        return graphs.insert_call(call, target, args, result)

    pixels = math.prod(size for size in graphs.value(call).shape[2:] if isinstance(size, int))
    return Layer(
        inputs=(source,),
        products=pixels * weight.numel(),
        insert=insert,
        takes_contiguous=groups == 1 and channels <= _FEW_CHANNELS,
    )


def _pair(values: Sequence[int]) -> list[int]:
    """A number for each of two dimensions, where one may stand for both."""
    return [*values] * 2 if len(values) == 1 else [*values]
