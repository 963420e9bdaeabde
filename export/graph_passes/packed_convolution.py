"""Selects the convolutions that can run on channels-last tensors with packed weights.

In both layouts, the elements that a sum of products needs are neighbors: the channels of a pixel, and a row of weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs, layouts
from export.graph_passes.calls import PackedConvolution
from export.graph_passes.channels_last_layer import Layer
from export.graph_passes.operators import packed_convolution as operator

DTYPES = frozenset({torch.float32, torch.float16, torch.bfloat16})
# The largest ratio between the sizes of the packed and the unpacked weights of a group.
_MOST_SHARE = 2


def is_packed(weight: torch.Tensor, groups: int) -> bool:
    """Returns whether the kernel supports the weights' dtype and the width of a group."""
    out_channels = weight.shape[0]
    if weight.dtype not in DTYPES:
        return False
    if operator.is_depthwise(weight.shape[1] * groups, out_channels, groups) or groups == 1:
        return True
    return fills_panels(out_channels // groups)


def fills_panels(out_channels: int) -> bool:
    """Returns whether the output channels of a group fill a large part of their panels."""
    return operator.filled_channels(out_channels) <= _MOST_SHARE * out_channels


def layer(program: ExportedProgram, node: Node) -> Layer | None:
    """Returns a call as a layer on channels-last tensors; None if the kernel does not support the call."""
    convolution = fused_convolutions.of(node)
    if convolution is None:
        return None
    weight, groups = graphs.weight(program, convolution.weight), convolution.groups
    if weight is None or weight.dim() not in graphs.IMAGE_DIMS or not is_packed(weight, groups):
        return None
    channels = weight.shape[1] * groups

    def insert(inputs: Sequence[Node]) -> Node:
        packed = PackedConvolution(
            inputs[0],
            graphs.add_constant(program, f"{node.name}_weight_packed", operator.pack(weight, groups)),
            convolution.bias,
            addend=None,
            kernel_size=tuple(weight.shape[2:]),
            out_channels=weight.shape[0],
            stride=convolution.stride,
            padding=convolution.padding,
            end_padding=convolution.end_padding,
            dilation=convolution.dilation,
            groups=groups,
            activation=convolution.activation,
            minimum=convolution.minimum,
            maximum=convolution.maximum,
        )
        return packed.insert(node, graphs.channels_last(graphs.value(node)))

    pixels = math.prod(size for size in graphs.value(node).shape[2:] if isinstance(size, int))
    return Layer(
        inputs=(convolution.input,),
        products=pixels * weight.numel(),
        insert=insert,
        takes_contiguous=groups == 1 and channels <= layouts.COPIED_IMAGE_MOST_CHANNELS,
    )
