"""Has convolutions by kernels of 3 by 3 multiply less, by Winograd's algorithm, where that is faster."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import statically_known_true

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

# What takes as long as one of a product's multiplications, on an AMD EPYC with AVX-512: a 12th of the transforms of one
# place in a tile, in one channel; a 32nd of reading a weight from memory.
_TRANSFORM = 12
_READ = 32
# Faster by less than that is not worth larger weights.
_MOST_SHARE = 0.85


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    # Registered by the pass channels_last, for programs with it only.
    for call in list(program.graph.nodes):
        if graphs.name_of(call) == "rules_executorch::packed_convolution":
            changes += _transform(program, call)
    graphs.finish(program)
    return changes


def _transform(program: ExportedProgram, call: graphs.Call) -> list[Change]:
    source, weight_node, bias, addend, kernel_size, out_channels, stride, padding, end_padding, dilation, groups = (
        call.args[:11]
    )
    steps = (*stride, *dilation, groups)
    packed = graphs.constant(program, weight_node)
    if tuple(kernel_size) != (3, 3) or set(steps) != {1} or packed is None or packed.dtype != torch.float32:
        return []
    image = graphs.value(source)
    if not statically_known_true(image.is_contiguous(memory_format=torch.channels_last)):
        return []
    tile = _tile(graphs.value(call).shape, image.shape[1])
    if tile is None:
        return []

    from export.graph_passes import packed_convolution_operator, winograd_operator  # Registers it.

    weight = packed_convolution_operator.unpack(packed, kernel_size, out_channels, groups)
    transformed = graphs.add_constant(program, f"{call.name}_weight_winograd", winograd_operator.pack(weight, tile))
    target: Any = graphs.EDGE.rules_executorch.winograd_convolution.default
    args = (source, transformed, bias, addend, out_channels, padding, end_padding, *call.args[11:])
    changes = [Change.of(call, f"multiplied in tiles of {tile} by {tile}")]
    graphs.replace(call, graphs.insert_call(call, target, args, graphs.value(call)))
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

    costs: dict[int | None, float] = {None: _MOST_SHARE * cost(9 * images * height * width, 9)}
    for tile in (2, 4):
        tiles = images * math.ceil(height / tile) * math.ceil(width / tile)
        places = (tile + 2) ** 2
        costs[tile] = cost(places * tiles, places) + _TRANSFORM * places * tiles * (channels + out_channels)
    return min(costs, key=costs.__getitem__)


PASS = GraphPass("winograd", Stage.LOWERED, _run)
