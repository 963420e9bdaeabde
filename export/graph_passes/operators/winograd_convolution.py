"""The operator for convolutions with 3 by 3 kernels by Winograd's algorithm, for PyTorch."""

from __future__ import annotations

import torch
from torch.nn import functional

from export.graph_passes import layouts
from export.graph_passes.calls import WinogradConvolution
from export.graph_passes.operators import activation, packed_convolution
from export.graph_passes.operators.registration import fakes, implements

KERNEL_SIZE = layouts.WINOGRAD_KERNEL_SIZE
# The evaluation points of the polynomials, without infinity, by the outputs of a tile in each dimension.
_POINTS = {2: layouts.WINOGRAD_POINTS_OF_2, 4: layouts.WINOGRAD_POINTS_OF_4}
# The supported tiles: outputs in each dimension.
TILES = tuple(_POINTS)


def places(tile: int) -> int:
    """Returns the products for a tile of `tile` by `tile` outputs, for one input channel and one output channel."""
    return (tile + KERNEL_SIZE - 1) ** 2


def pack(weight: torch.Tensor, tile: int) -> torch.Tensor:
    """Transforms the weights of a convolution for tiles of `tile` by `tile` outputs, and packs them.

    Args:
        weight: (output channels, input channels, 3, 3).
        tile: 2 or 4.
    Returns:
        (panels, places * input channels, output channels of a panel), in the weight's dtype. Zeros fill up the last
        panel.
    """
    matrix = _kernel_transform(tile)
    transformed = torch.einsum("ai,ocij,bj->ocab", matrix, weight.detach().double(), matrix)
    return packed_convolution.pack(transformed.to(weight.dtype), groups=1)[0]


def unpack(packed: torch.Tensor, out_channels: int, channels: int) -> torch.Tensor:
    """Returns the weights before `pack`, with rounding errors."""
    size = round((packed.shape[1] // channels) ** 0.5)
    transformed = packed_convolution.unpack(packed[None], (size, size), out_channels, groups=1)
    inverse = torch.linalg.pinv(_kernel_transform(size - KERNEL_SIZE + 1))
    return torch.einsum("ia,ocab,jb->ocij", inverse, transformed.double(), inverse).to(packed.dtype)


def _kernel_transform(tile: int) -> torch.Tensor:
    """Returns the matrix G of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016).

    The product of the matrix and a kernel's column has the values of the kernel's polynomial at all points. Each value
    is divided by the product of the point's distances to the other points (Toom and Cook), so that the transforms of
    inputs and outputs need no division.
    """
    points = torch.tensor(_POINTS[tile], dtype=torch.float64)
    powers = points[:, None] ** torch.arange(KERNEL_SIZE, dtype=torch.float64)
    distances = (points[:, None] - points).fill_diagonal_(1.0).prod(dim=1)
    return torch.cat([powers / distances[:, None], torch.eye(KERNEL_SIZE, dtype=torch.float64)[-1:]])


@implements(WinogradConvolution)
def winograd_convolution(call: WinogradConvolution[torch.Tensor]) -> torch.Tensor:
    (top, left), (bottom, right) = call.padding, call.end_padding
    padded = functional.pad(call.input, [left, right, top, bottom])
    result = functional.conv2d(padded, unpack(call.weight, call.out_channels, call.input.shape[1]), call.bias)
    if call.addend is not None:
        result = result + call.addend
    return activation.apply(call, result)


@fakes(WinogradConvolution)
def fake_winograd_convolution(call: WinogradConvolution[torch.Tensor]) -> torch.Tensor:
    ends = zip(call.input.shape[2:], call.padding, call.end_padding, strict=True)
    sizes = [size + before + behind - KERNEL_SIZE + 1 for size, before, behind in ends]
    return call.input.new_empty((call.input.shape[0], call.out_channels, *sizes))
