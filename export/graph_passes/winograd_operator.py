"""The operator that convolutions by kernels of 3 by 3 become where Winograd's algorithm is faster, for PyTorch.

Importing this module registers the operator; kernels/optimized has its kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional

from export.graph_passes import activation as activations
from export.graph_passes import own_operators, packed_convolution_operator

KERNEL_SIZE = 3
# The points at which polynomials are evaluated, besides infinity: the transforms of op_winograd_convolution.cpp have
# the same. By the outputs of a tile in each dimension.
_POINTS = {2: (0.0, 1.0, -1.0), 4: (0.0, 0.625, -0.625, 1.5, -1.5)}

_ARGUMENTS = (
    "Tensor input, Tensor weight, Tensor? bias, Tensor? addend, int out_channels, int[] padding, int[] end_padding,"
    f" {activations.ARGUMENTS}"
)


def places(tile: int) -> int:
    """The products for a tile of `tile` by `tile` outputs, in each input and output channel."""
    return (tile + KERNEL_SIZE - 1) ** 2


def pack(weight: torch.Tensor, tile: int) -> torch.Tensor:
    """The weights of a convolution, transformed for tiles of `tile` by `tile` outputs, as the kernel reads them.

    Args:
        weight: (output channels, input channels, 3, 3).
        tile: 2 or 4.
    Returns:
        (output channels, filled up with zeros to a multiple of 16, places * input channels), in float32: panels of 48
        output channels, the last one of what is left. A panel has a row for each place and input channel.
    """
    matrix = _kernel_transform(tile)
    transformed = torch.einsum("ai,ocij,bj->ocab", matrix, weight.detach().double(), matrix)
    return packed_convolution_operator.pack(transformed.to(weight.dtype), groups=1)[0]


def unpack(packed: torch.Tensor, out_channels: int, channels: int) -> torch.Tensor:
    """Weights as they were before `pack`, but for rounding."""
    size = round((packed.shape[1] // channels) ** 0.5)
    transformed = packed_convolution_operator.unpack(packed[None], (size, size), out_channels, groups=1)
    inverse = torch.linalg.pinv(_kernel_transform(size - KERNEL_SIZE + 1))
    return torch.einsum("ia,ocab,jb->ocij", inverse, transformed.double(), inverse).to(packed.dtype)


def _kernel_transform(tile: int) -> torch.Tensor:
    """The matrix that a kernel's rows are multiplied by: values of the kernel's polynomial at all points.

    Divided by the product of the point's distances to the others (Toom and Cook), so that inputs and outputs need no
    division. Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016), call it G.
    """
    points = torch.tensor(_POINTS[tile], dtype=torch.float64)
    powers = points[:, None] ** torch.arange(KERNEL_SIZE, dtype=torch.float64)
    distances = (points[:, None] - points).fill_diagonal_(1.0).prod(dim=1)
    return torch.cat([powers / distances[:, None], torch.eye(KERNEL_SIZE, dtype=torch.float64)[-1:]])


def _convolution(  # noqa: PLR0917  # The operator's.
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    addend: torch.Tensor | None,
    out_channels: int,
    padding: Sequence[int],
    end_padding: Sequence[int],
    activation: str = "none",
    minimum: float = 0.0,
    maximum: float = 0.0,
) -> torch.Tensor:
    # From the last dimension on: before, behind.
    padded = functional.pad(input, [padding[1], end_padding[1], padding[0], end_padding[0]])
    result = functional.conv2d(padded, unpack(weight, out_channels, input.shape[1]), bias)
    if addend is not None:
        result = result + addend
    result = activations.apply(result, activation, minimum, maximum)
    return result.contiguous(memory_format=torch.channels_last)


def _fake_convolution(  # noqa: PLR0917  # The operator's.
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    addend: torch.Tensor | None,
    out_channels: int,
    padding: Sequence[int],
    end_padding: Sequence[int],
    *_: object,
) -> torch.Tensor:
    sizes = [
        size + before + behind - KERNEL_SIZE + 1
        for size, before, behind in zip(input.shape[2:], padding, end_padding, strict=True)
    ]
    shape = (input.shape[0], out_channels, *sizes)
    return torch.empty(shape, dtype=input.dtype, device=input.device, memory_format=torch.channels_last)


own_operators.register("winograd_convolution", _ARGUMENTS, _convolution, _fake_convolution)
