"""Selects the packed convolutions with 3 by 3 kernels that are faster with Winograd's algorithm, and rewrites them.

A kernel of 1 by 3 by 3 convolves the slices of volumes as images.
"""

from __future__ import annotations

import math

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, layouts
from export.graph_passes.calls import PackedConvolution, WinogradConvolution
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.operators import winograd_convolution

# Costs in multiplications of a matrix product, measured with AVX-512: the transforms of one place of a tile in one
# channel, and the read of a weight from memory, on an AMD EPYC; the transform of a kernel to one place, on an Intel
# Xeon.
_TRANSFORM = 12
_READ = 32
_KERNEL_TRANSFORM = 7
# The kernel transforms the weights once for a block of tiles, which have about this number of inputs and sums.
_BLOCK_SIZE = 1 << 18
_STRIP = 3 * layouts.FLOAT_PANEL_COLUMNS
# The largest ratio between the costs with and without the algorithm. A smaller gain does not justify more rounding
# errors.
_MOST_SHARE = 0.85


def _rewrite(_: ExportedProgram, node: Node, convolution: PackedConvolution[Node]) -> Change | None:
    steps = (*convolution.stride, *convolution.dilation, convolution.groups)
    value = graphs.value(node)
    kernel_size = winograd_convolution.kernel_size_of(value.dim())
    if convolution.transposed or tuple(convolution.kernel_size) != kernel_size or set(steps) != {1}:
        return None
    if any((*convolution.padding[:-2], *convolution.end_padding[:-2])):
        return None
    if graphs.value(convolution.weight).dtype != torch.float32:
        return None
    image = graphs.value(convolution.input)
    if not graphs.is_channels_last(image):
        return None
    tile = _tile(value.shape, image.shape[1])
    if tile is None:
        return None
    in_tiles = convolution.changed_into(WinogradConvolution, tile=tile)
    return Change(node, f"multiplied in tiles of {tile} by {tile}", in_tiles)


def _tile(shape: torch.Size, channels: int) -> int | None:
    """Returns the best tile's outputs in each dimension, for a result of a shape; None for no tiles.

    The cost is the number of multiplications, plus the transforms of inputs, weights and sums, plus one read of each
    weight from memory for each inference.
    """
    if not all(isinstance(size, int) for size in shape):
        return None
    batch, out_channels, *slices, height, width = shape
    images = math.prod((batch, *slices))
    weights = math.prod(winograd_convolution.KERNEL_SIZE)

    def cost(of_each_pair: int) -> int:
        return channels * out_channels * (of_each_pair + _READ * weights)

    costs: dict[int | None, float] = {None: _MOST_SHARE * cost(weights * images * height * width)}
    for tile in winograd_convolution.TILES:
        tiles = images * math.ceil(height / tile) * math.ceil(width / tile)
        places = winograd_convolution.places(tile)
        blocks = math.ceil(tiles * places * (channels + _STRIP) / _BLOCK_SIZE)
        costs[tile] = cost(places * (tiles + _KERNEL_TRANSFORM * blocks))
        costs[tile] += _TRANSFORM * places * tiles * (channels + out_channels)
    return min(costs, key=costs.__getitem__)


PASS = GraphPass(
    "winograd",
    Stage.LOWERED,
    roots=(PackedConvolution,),
    rewrite=_rewrite,
    reference=(
        "computes packed convolutions with kernels of 3 by 3, or 1 by 3 by 3 of volumes, and a stride of 1 with fewer "
        "multiplications, by Winograd's algorithm, if this is faster "
        "([when](../docs/optimized_kernels.md#winograds-algorithm)): `rules_executorch::winograd_convolution.out`. The "
        "results have more rounding errors"
    ),
    after=("activations",),
)
