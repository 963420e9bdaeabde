"""Has convolutions by kernels of 3 by 3 multiply less, by Winograd's algorithm, where that is faster."""

from __future__ import annotations

import math

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import PackedConvolution, WinogradConvolution
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage
from export.graph_passes.operators import packed_convolution, winograd_convolution

# What takes as long as one of a product's multiplications, on an AMD EPYC with AVX-512: a 12th of the transforms of one
# place in a tile, in one channel; a 32nd of reading a weight from memory.
_TRANSFORM = 12
_READ = 32
# Faster by less than that is not worth larger weights.
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
    if convolution.kernel_size != _KERNEL or set(steps) != {1} or packed is None or packed.dtype != torch.float32:
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
    """Outputs in each dimension of the tiles that a result of a shape is computed in; None for no tiles.

    What is compared is the multiplications of products, and what takes as long: transforms of inputs and sums, and
    weights, which come from memory once in an inference.
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
        "multiplies less in packed convolutions by kernels of 3 by 3 with steps of 1, by Winograd's algorithm, where "
        "that is faster: `rules_executorch::winograd_convolution.out` "
        "([which](../docs/optimized_kernels.md#winograds-algorithm)). Their weights become 1.8 or 4 times as large, "
        "and results differ by more roundings"
    ),
    after=("activations",),
)
