"""Selects the transposed convolutions that can run on channels-last tensors with packed weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs, layouts, packed_convolution
from export.graph_passes.calls import Convolution, PackedConvolution
from export.graph_passes.channels_last_layer import Layer
from export.graph_passes.operators import packed_convolution as operator

# The time of a multiplication in the kernel of any convolution, measured with AVX2, relative to one without strides.
_STRIDED = 2


@dataclass(frozen=True)
class Transposed:
    """A transposed convolution whose steps are known.

    Attributes:
        call: the call.
        stride: the steps between the outputs of neighboring inputs.
        padding: the outputs that are removed at the beginning of each dimension.
        end_padding: the outputs that are removed at the end; a negative number adds outputs.
        dilation: the steps between the outputs of neighboring kernel positions.
        groups: the groups of channels.
    """

    call: Convolution[Node]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    end_padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int


def of(node: object) -> Transposed | None:
    """Returns a call as a transposed convolution; None for any other call, and if the steps are symbolic."""
    call = Convolution.of(node)
    if call is None or not call.transposed:
        return None
    stride, padding, added = call.stride, call.padding, call.output_padding
    dilation, groups = call.dilation, (call.groups,)
    known = fused_convolutions.are_known
    if not (known(stride) and known(padding) and known(added) and known(dilation) and known(groups)):
        return None
    end_padding = tuple(before - more for before, more in zip(padding, added, strict=True))
    return Transposed(call, stride, padding, end_padding, dilation, groups[0])


def is_packed(weight: torch.Tensor, convolution: Transposed) -> bool:
    """Returns whether the kernel supports a transposed convolution and is faster than the kernel of any convolution."""
    steps = zip(weight.shape[2:], convolution.stride, convolution.dilation, strict=True)
    return (
        weight.dtype in packed_convolution.DTYPES
        and packed_convolution.fills_panels(weight.shape[1])
        # All outputs read the same number of inputs, give or take one.
        and all(size >= stride and math.gcd(stride, dilation) == 1 for size, stride, dilation in steps)
    )


def layer(program: ExportedProgram, node: Node) -> Layer | None:
    """Returns a call as a layer on channels-last tensors; None if the kernel does not support the call."""
    convolution = of(node)
    weight = graphs.weight(program, convolution.call.weight) if convolution else None
    if convolution is None or weight is None or weight.dim() != 4 or not is_packed(weight, convolution):
        return None
    stride, padding, dilation, groups = (
        convolution.stride,
        convolution.padding,
        convolution.dilation,
        convolution.groups,
    )

    def insert(inputs: Sequence[Node]) -> Node:
        height, width = weight.shape[2:]
        panels = operator.pack_transposed(weight, groups, stride, padding, dilation)
        packed = PackedConvolution(
            inputs[0],
            graphs.add_constant(program, f"{node.name}_weight_packed", panels),
            convolution.call.bias,
            addend=None,
            kernel_size=(height, width),
            out_channels=weight.shape[1] * groups,
            stride=stride,
            padding=padding,
            end_padding=convolution.end_padding,
            dilation=dilation,
            groups=groups,
            transposed=True,
        )
        return packed.insert(node, graphs.channels_last(graphs.value(node)))

    image = graphs.value(convolution.call.input)
    pixels = math.prod(size for size in image.shape[2:] if isinstance(size, int))
    return Layer(
        inputs=(convolution.call.input,),
        products=pixels * weight.numel() * (_STRIDED if max(stride) > 1 else 1),
        insert=insert,
        takes_contiguous=groups == 1 and weight.shape[0] <= layouts.COPIED_IMAGE_MOST_CHANNELS,
    )
