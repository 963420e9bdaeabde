"""The operator that convolutions of channels-last tensors with packed weights become in programs, for PyTorch.

The addend is added before the activation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch.nn import functional

from export.graph_passes import layouts
from export.graph_passes.calls import PackedConvolution
from export.graph_passes.operators import activation
from export.graph_passes.operators.registration import fakes, implements

# Output channels of a panel, and what the count of the last panel's is a multiple of.
_PANEL = layouts.FLOAT_PANEL_COLUMNS
_STEP = layouts.FLOAT_PANEL_COLUMN_STEP


def is_depthwise(channels: int, out_channels: int, groups: int) -> bool:
    """Whether each output channel is made of an input channel of its own."""
    return channels == out_channels == groups > 1


def filled_channels(out_channels: int) -> int:
    """Output channels of a group with those that fill up its last panel."""
    return -(-out_channels // _STEP) * _STEP


def has_pairs(dtype: torch.dtype, in_channels: int) -> bool:
    """Whether the weights of two input channels of a group are neighbors, as processors multiply BFloat16."""
    return dtype == torch.bfloat16 and in_channels % 2 == 0


def pack(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """The weights of a convolution in the order in which the kernel reads them.

    Those of a depthwise convolution are [positions of the kernel, channels]. Any other's are [groups, output channels
    of a group, inputs of a sum], of which each group is panels of output channels, the last one of what is left, filled
    up with zeros; a panel has a row for each position of the kernel and input channel, or for two input channels, whose
    weights are pairs then. One of zeros may fill the channels up to such.
    """
    if is_depthwise(weight.shape[1] * groups, weight.shape[0], groups):
        return weight.detach().reshape(groups, -1).t().contiguous()
    fill = weight.shape[1] % 2 if weight.dtype == torch.bfloat16 and groups == 1 else 0
    filled_inputs = functional.pad(weight.detach(), (0, 0, 0, 0, 0, fill))
    of_groups = filled_inputs.permute(2, 3, 1, 0).reshape(-1, groups, weight.shape[0] // groups)
    inputs, _, channels = of_groups.shape
    filled = functional.pad(of_groups, (0, filled_channels(channels) - channels))
    panels = [panel.transpose(0, 1) for panel in filled.split(_PANEL, dim=2)]
    if has_pairs(weight.dtype, filled_inputs.shape[1]):
        panels = [panel.unflatten(1, (-1, 2)).transpose(2, 3) for panel in panels]
    rows = torch.cat([panel.reshape(groups, -1) for panel in panels], dim=1)
    return rows.reshape(groups, filled.shape[2], inputs).contiguous()


def unpack(packed: torch.Tensor, kernel_size: Sequence[int], out_channels: int, groups: int) -> torch.Tensor:
    """Weights as they were before `pack`, but for the input channel that fills up pairs."""
    if packed.dim() == 2:
        return packed.t().reshape(groups, 1, *kernel_size)
    channels, inputs = out_channels // groups, packed.shape[2]
    widths = [min(_PANEL, packed.shape[1] - first) for first in range(0, packed.shape[1], _PANEL)]
    panels = packed.reshape(groups, -1).split([inputs * width for width in widths], dim=1)
    if has_pairs(packed.dtype, inputs // math.prod(kernel_size)):
        panels = [panel.reshape(groups, inputs // 2, -1, 2).transpose(2, 3) for panel in panels]
    rows = torch.cat([panel.reshape(groups, inputs, -1) for panel in panels], dim=2)[:, :, :channels]
    return rows.transpose(1, 2).reshape(out_channels, *kernel_size, -1).permute(0, 3, 1, 2)


@implements(PackedConvolution)
def packed_convolution(call: PackedConvolution[torch.Tensor]) -> torch.Tensor:
    (top, left), (bottom, right) = call.padding, call.end_padding
    padded = functional.pad(call.input, [left, right, top, bottom])
    weight = unpack(call.weight, call.kernel_size, call.out_channels, call.groups)
    weight = weight[:, : call.input.shape[1] // call.groups]
    result = functional.conv2d(padded, weight, call.bias, call.stride, 0, call.dilation, call.groups)
    if call.addend is not None:
        result = result + call.addend
    return activation.apply(call, result).contiguous(memory_format=torch.channels_last)


@fakes(PackedConvolution)
def fake_packed_convolution(call: PackedConvolution[torch.Tensor]) -> torch.Tensor:
    sizes = [
        (size + before + behind - step * (kernel - 1) - 1) // by + 1
        for size, kernel, by, before, behind, step in zip(
            call.input.shape[2:],
            call.kernel_size,
            call.stride,
            call.padding,
            call.end_padding,
            call.dilation,
            strict=True,
        )
    ]
    shape = (call.input.shape[0], call.out_channels, *sizes)
    return torch.empty(shape, dtype=call.input.dtype, device=call.input.device, memory_format=torch.channels_last)
