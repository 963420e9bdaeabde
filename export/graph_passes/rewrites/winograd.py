"""Selects the packed convolutions with 3 by 3 kernels that are faster with Winograd's algorithm, and rewrites them."""

from __future__ import annotations

import math

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import PackedConvolution, WinogradConvolution
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage
from export.graph_passes.operators import packed_convolution, winograd_convolution

# Costs in multiplications of a matrix product, measured on an AMD EPYC with AVX-512: the transforms of one place of a
# tile in one channel, and the read of a weight from memory.
_TRANSFORM = 12
_READ = 32
# The largest ratio between the costs with and without the algorithm. A smaller gain does not justify larger weights.
_MOST_SHARE = 0.85
_KERNEL = (winograd_convolution.KERNEL_SIZE, winograd_convolution.KERNEL_SIZE)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    for node, convolution in PackedConvolution.each(sites):
        changes += _transform(program, node, convolution)
    return changes


def _transform(program: ExportedProgram, node: Node, convolution: PackedConvolution[Node]) -> list[Change]:
    steps = (*convolution.stride, *convolution.dilation, convolution.groups)
    packed = graphs.constant(program, convolution.weight)
    if convolution.transposed or convolution.kernel_size != _KERNEL or set(steps) != {1}:
        return []
    if packed is None or packed.dtype != torch.float32:
        return []
    image = graphs.value(convolution.input)
    if not graphs.is_channels_last(image):
        return []
    tile = _tile(graphs.value(node).shape, image.shape[1])
    if tile is None:
        return []
    weight = packed_convolution.unpack(packed, _KERNEL, convolution.out_channels, groups=1)
    transformed = WinogradConvolution(
        convolution.input,
        graphs.add_constant(program, f"{node.name}_weight_winograd", winograd_convolution.pack(weight, tile)),
        convolution.bias,
        convolution.addend,
        out_channels=convolution.out_channels,
        padding=convolution.padding,
        end_padding=convolution.end_padding,
        activation=convolution.activation,
        minimum=convolution.minimum,
        maximum=convolution.maximum,
    )
    changes = [Change.of(node, f"multiplied in tiles of {tile} by {tile}")]
    graphs.replace(node, transformed.insert(node, graphs.value(node)))
    return changes


def _tile(shape: torch.Size, channels: int) -> int | None:
    """Returns the best tile's outputs in each dimension, for a result of a shape; None for no tiles.

    The cost is the number of multiplications, plus the transforms of inputs and sums, plus one read of each weight from
    memory for each inference.
    """
    if not all(isinstance(size, int) for size in shape):
        return None
    images, out_channels, height, width = shape

    def cost(products: int, weights: int) -> int:
        return channels * out_channels * (products + _READ * weights)

    weights = math.prod(_KERNEL)
    costs: dict[int | None, float] = {None: _MOST_SHARE * cost(weights * images * height * width, weights)}
    for tile in winograd_convolution.TILES:
        tiles = images * math.ceil(height / tile) * math.ceil(width / tile)
        places = winograd_convolution.places(tile)
        costs[tile] = cost(places * tiles, places) + _TRANSFORM * places * tiles * (channels + out_channels)
    return min(costs, key=costs.__getitem__)


PASS = GraphPass(
    "winograd",
    Stage.LOWERED,
    _run,
    reference=(
        "computes packed convolutions with 3 by 3 kernels and a stride of 1 with fewer multiplications, by Winograd's "
        "algorithm, if this is faster ([when](../docs/optimized_kernels.md#winograds-algorithm)): "
        "`rules_executorch::winograd_convolution.out`. The weights become 1.8 or 4 times as large, and the results "
        "have more rounding errors"
    ),
    after=("activations",),
)
