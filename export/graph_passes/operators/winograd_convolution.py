"""The operator for convolutions with 3 by 3 kernels by Winograd's algorithm, for PyTorch."""

from __future__ import annotations

import math

import torch
from torch.export import ExportedProgram
from torch.nn import functional

from export.graph_passes.calls import WinogradConvolution
from export.graph_passes.operators import activation, packed_convolution, windows
from export.graph_passes.operators.registration import fakes, implements

KERNEL_SIZE = (3, 3)
# The supported tiles: outputs in each dimension.
TILES = (2, 4)
# The factor by which rounding errors exceed those of a direct convolution, by tile. A, G and B are the transforms of
# sums, kernels and inputs in one dimension (kernels/convolution/winograd_transforms.h). For random numbers, the sum at
# place i of a tile is |G_i| |B_i| times as large as an input times a weight, and output k has A_ki times its error. A
# direct sum has 3 products. Thus the factor in two dimensions is the mean over k of sum_i (A_ki |G_i| |B_i|)^2 / 3.
# Rounding errors add like random numbers: Higham and Mary, "A New Approach to Probabilistic Rounding Error Analysis"
# (2019). The worst case has norms of the same matrices: Barabasz, Anderson, Soodhalter and Gregg, "Error Analysis and
# Improving the Accuracy of Winograd Convolution for Deep Neural Networks" (2020).
ERROR_GROWTH = {2: 1.67, 4: 4.78}


def error_growth(program: ExportedProgram) -> float:
    """Returns the largest factor by which rounding errors of a program's convolutions exceed those of PyTorch's."""
    tiles = [convolution.tile for _, convolution in WinogradConvolution.each(program.graph.nodes)]
    return max((ERROR_GROWTH[tile] for tile in tiles), default=1.0)


def kernel_size_of(dims: int) -> tuple[int, ...]:
    """Returns the size of the kernel for inputs of `dims` dimensions. The slices of a volume are convolved alone."""
    return (1,) * (dims - 2 - len(KERNEL_SIZE)) + KERNEL_SIZE


def places(tile: int) -> int:
    """Returns the products for a tile of `tile` by `tile` outputs, for one input channel and one output channel."""
    return math.prod(tile + size - 1 for size in KERNEL_SIZE)


@implements(WinogradConvolution)
def winograd_convolution(call: WinogradConvolution[torch.Tensor]) -> torch.Tensor:
    padded = windows.padded(call.input, call.padding + call.end_padding)
    kernel_size = kernel_size_of(call.input.dim())
    weight = packed_convolution.unpack(call.weight, kernel_size, call.out_channels, groups=1)
    convolve = functional.conv3d if padded.dim() == 5 else functional.conv2d
    result = convolve(padded, weight, call.bias)
    if call.addend is not None:
        result = result + call.addend
    return activation.apply(call, result)


@fakes(WinogradConvolution)
def fake_winograd_convolution(call: WinogradConvolution[torch.Tensor]) -> torch.Tensor:
    kernel_size = kernel_size_of(call.input.dim())
    ones = [1] * len(kernel_size)
    sizes = windows.sizes(call.input.shape[2:], call.padding + call.end_padding, kernel_size, ones, ones)
    return call.input.new_empty((call.input.shape[0], call.out_channels, *sizes))
