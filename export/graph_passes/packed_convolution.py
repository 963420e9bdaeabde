"""Selects the convolutions that can run on channels-last tensors with packed weights.

In both layouts, the elements that a sum of products needs are neighbors: the channels of a pixel, and a row of weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs, layouts
from export.graph_passes.calls import Convolution, PackedConvolution
from export.graph_passes.operators import packed_convolution as operator

_DTYPES = frozenset({torch.float32, torch.float16, torch.bfloat16})
# The largest ratio between the sizes of the packed and the unpacked weights of a group.
_MOST_SHARE = 2
# The time of a multiplication in the kernel of a convolution that is not packed, measured with AVX2, for a transposed
# convolution with strides, relative to one without strides.
_STRIDED = 2


@dataclass(frozen=True)
class Layer:
    """A call that can be replaced by a call on channels-last tensors.

    Attributes:
        input: the tensor that the new call reads channels-last.
        products: the number of multiplications of the call, which are weighed against the cost of copies.
        insert: inserts the new call before the old one. The function gets the input in channels-last order. The new
            call gives one channels-last tensor.
        takes_contiguous: whether the new call also reads a contiguous input, at the same speed.
    """

    input: Node
    products: int
    insert: Callable[[Node], Node]
    takes_contiguous: bool


def unpacked(program: ExportedProgram, node: object) -> tuple[PackedConvolution[Node], torch.Tensor] | None:
    """Returns a convolution as a call of packed_convolution whose weight is not packed yet, and the weight.

    None if the kernel does not support the call, or is not faster than the kernel of any convolution.
    """
    convolution = Convolution.of(node)
    is_transposed = convolution is not None and convolution.transposed
    known = fused_convolutions.with_known_steps(convolution) if convolution else fused_convolutions.of(node)
    weight = graphs.weight(program, known.weight) if known else None
    if known is None or weight is None:
        return None
    call = known.changed_into(
        PackedConvolution,
        addend=None,
        kernel_size=tuple(weight.shape[2:]),
        out_channels=weight.shape[1] * known.groups if is_transposed else weight.shape[0],
        transposed=is_transposed,
    )
    return (call, weight) if weight.dtype in _DTYPES and _is_packed(call, weight) else None


def _is_packed(call: PackedConvolution[Node], weight: torch.Tensor) -> bool:
    of_group = call.out_channels // call.groups
    fills_panels = operator.filled_channels(of_group) <= _MOST_SHARE * of_group
    if call.transposed:
        # All outputs read the same number of inputs, give or take one.
        steps = zip(call.kernel_size, call.stride, call.dilation, strict=True)
        return fills_panels and all(size >= step and math.gcd(step, far) == 1 for size, step, far in steps)
    is_depthwise = operator.is_depthwise(weight.shape[1] * call.groups, call.out_channels, call.groups)
    return fills_panels or is_depthwise or call.groups == 1


def layer(program: ExportedProgram, node: Node) -> Layer | None:
    """Returns a call as a layer on channels-last tensors; None if the kernel does not support the call."""
    found = unpacked(program, node)
    if found is None:
        return None
    call, weight = found
    if weight.dim() not in ((4,) if call.transposed else graphs.IMAGE_DIMS):
        return None

    def insert(image: Node) -> Node:
        panels = (
            operator.pack_transposed(weight, call.groups, call.stride, call.padding, call.dilation)
            if call.transposed
            else operator.pack(weight, call.groups)
        )
        constant = graphs.add_constant(program, f"{node.name}_weight_packed", panels)
        packed = call.replace(input=image, weight=constant)
        return packed.insert(node, graphs.channels_last(graphs.value(node)))

    pixels = graphs.value(call.input if call.transposed else node).shape[2:]
    channels = weight.shape[0 if call.transposed else 1]
    cost = _STRIDED if call.transposed and max(call.stride) > 1 else 1
    return Layer(
        call.input,
        math.prod(size for size in pixels if isinstance(size, int)) * weight.numel() * cost,
        insert,
        takes_contiguous=call.groups == 1 and channels <= layouts.COPIED_IMAGE_MOST_CHANNELS,
    )
