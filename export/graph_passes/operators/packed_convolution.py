"""The operator for convolutions of channels-last images and volumes with packed weights, for PyTorch.

The operator adds the addend before the activation.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional

from export.graph_passes import layouts
from export.graph_passes.calls import PackedConvolution
from export.graph_passes.operators import activation, windows
from export.graph_passes.operators.registration import fakes, implements

# Output channels of a panel.
_COLUMNS = layouts.FLOAT_PANEL_COLUMNS


def is_depthwise(channels: int, out_channels: int, groups: int) -> bool:
    """Returns whether each output channel depends on one input channel only."""
    return channels == out_channels == groups > 1


def filled_channels(out_channels: int) -> int:
    """Returns the output channels of a group, rounded up to whole panels."""
    return -(-out_channels // _COLUMNS) * _COLUMNS


def has_pairs(dtype: torch.dtype, in_channels: int) -> bool:
    """Returns whether `pack` interleaves the weights of two input channels, as dot products of BFloat16 need them."""
    return dtype == torch.bfloat16 and in_channels % 2 == 0


def pack(weight: torch.Tensor, groups: int) -> torch.Tensor:
    """Returns the weights of a convolution in the order in which the kernel reads them.

    A depthwise convolution has [kernel positions, channels]. Any other convolution has [groups, panels, inputs, output
    channels of a panel]. The inputs are the input channels of each kernel position, one position after another. Zeros
    fill up the last panel. With pairs of input channels, the shape is [groups, panels, pairs, output channels of a
    panel, 2]. If one group has an odd number of input channels in bfloat16, a channel of zeros fills up the last pair.
    """
    if is_depthwise(weight.shape[1] * groups, weight.shape[0], groups):
        return weight.detach().reshape(groups, -1).t().contiguous()
    fill = weight.shape[1] % 2 if weight.dtype == torch.bfloat16 and groups == 1 else 0
    filled_inputs = functional.pad(weight.detach().flatten(2), (0, 0, 0, fill))
    of_groups = filled_inputs.permute(2, 1, 0).reshape(-1, groups, weight.shape[0] // groups)
    channels = of_groups.shape[2]
    filled = functional.pad(of_groups, (0, filled_channels(channels) - channels))
    panels = filled.unflatten(2, (-1, _COLUMNS)).permute(1, 2, 0, 3)
    if has_pairs(weight.dtype, filled_inputs.shape[1]):
        panels = panels.unflatten(2, (-1, 2)).transpose(3, 4)
    packed: torch.Tensor = panels.contiguous()
    return packed


def pack_transposed(
    weight: torch.Tensor, groups: int, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> torch.Tensor:
    """Returns the weights of a transposed convolution as `pack`, with the kernel positions in the order of phases."""
    channels, of_group, *kernel_size = weight.shape
    order = _phases(kernel_size, stride, padding, dilation)
    by_output = weight.reshape(groups, channels // groups, of_group, -1).transpose(1, 2).flatten(0, 1)
    return pack(by_output[:, :, order], groups)


def _phases(
    kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> list[int]:
    """Returns the kernel positions of a transposed convolution, phase by phase.

    A phase is an ordinary convolution. In each dimension, its outputs are a stride apart. The phases are in the order
    of their first outputs, row by row. The positions of a phase are in the order of the inputs that they read.
    """
    rows, columns = (
        [
            [position for position in reversed(range(size)) if (position * far - before - phase) % step == 0]
            for phase in range(step)
        ]
        for size, step, before, far in zip(kernel_size, stride, padding, dilation, strict=True)
    )
    return [y * kernel_size[1] + x for ys in rows for xs in columns for y in ys for x in xs]


def unpack(packed: torch.Tensor, kernel_size: Sequence[int], out_channels: int, groups: int) -> torch.Tensor:
    """Returns the weights before `pack`. An input channel of zeros that fills up the last pair stays."""
    if packed.dim() == 2:
        return packed.t().reshape(groups, 1, *kernel_size)
    panels = packed.transpose(3, 4).flatten(2, 3) if packed.dim() == 5 else packed
    rows = panels.transpose(2, 3).flatten(1, 2)[:, : out_channels // groups]
    return rows.reshape(out_channels, *kernel_size, -1).movedim(-1, 1)


@implements(PackedConvolution)
def packed_convolution(call: PackedConvolution[torch.Tensor]) -> torch.Tensor:
    weight = unpack(call.weight, call.kernel_size, call.out_channels, call.groups)
    weight = weight[:, : call.input.shape[1] // call.groups]
    result = (_transposed if call.transposed else _convolution)(call, weight)
    if call.addend is not None:
        result = result + call.addend
    return activation.apply(call, result)


def _convolution(call: PackedConvolution[torch.Tensor], weight: torch.Tensor) -> torch.Tensor:
    padded = windows.padded(call.input, call.padding + call.end_padding)
    # In channels-last order, PyTorch multiplies pairs of BFloat16. If the number of channels is odd, the last channel
    # of a pixel is in a pair with the next pixel, and NaN in the next pixel makes the result NaN.
    padded, weight = (one.clone(memory_format=torch.contiguous_format) for one in (padded, weight))
    convolve = functional.conv3d if padded.dim() == 5 else functional.conv2d
    return convolve(padded, weight, call.bias, call.stride, 0, call.dilation, call.groups)


def _transposed(call: PackedConvolution[torch.Tensor], weight: torch.Tensor) -> torch.Tensor:
    order = _phases(call.kernel_size, call.stride, call.padding, call.dilation)
    positions = torch.empty_like(weight).flatten(2)
    positions[:, :, order] = weight.flatten(2)
    by_input = positions.unflatten(0, (call.groups, -1)).transpose(1, 2).flatten(0, 1)
    kernels = by_input.unflatten(2, call.kernel_size)
    sums = functional.conv_transpose2d(
        call.input, kernels, stride=call.stride, groups=call.groups, dilation=call.dilation
    )
    result = windows.padded(sums, [-width for width in call.padding + call.end_padding])
    return result if call.bias is None else result + call.bias[:, None, None]


@fakes(PackedConvolution)
def fake_packed_convolution(call: PackedConvolution[torch.Tensor]) -> torch.Tensor:
    image = call.input.shape[2:]
    window = (call.kernel_size, call.stride, call.dilation)
    if call.transposed:
        places = zip(image, call.padding, call.end_padding, *window, strict=True)
        sizes = [
            (size - 1) * step + far * (kernel - 1) + 1 - before - after
            for size, before, after, kernel, step, far in places
        ]
    else:
        sizes = windows.sizes(image, call.padding + call.end_padding, *window)
    return call.input.new_empty((call.input.shape[0], call.out_channels, *sizes))
