"""Rewrites convolutions of one dimension as convolutions of images with one row, which have channels-last kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import fused_convolutions, graphs, packed_convolution
from export.graph_passes.calls import Cat, ConstantPadNd, Convolution, FusedConvolution, PermuteCopy, ViewCopy
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage
from export.graph_passes.rewrites import channels_last

# The permutation of an image that moves the channels to the end, and the inverse permutation.
_CHANNELS_BEHIND = (0, 2, 3, 1)
_CHANNELS_AHEAD = (0, 3, 1, 2)
# The permutation that swaps the channels and the positions of a line.
_SWAP = (0, 2, 1)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    """Visits the calls of all operators: any call may read a rewritten line."""
    rewrite = _Rewrite(program)
    return [change for node in sites for change in rewrite.of(node)]


@dataclass
class _Rewrite:
    """Rewrites calls of lines, [batch, channels, positions], as calls of images, [batch, channels, 1, positions].

    Attributes:
        program: the method.
        images: maps a line that is a view of an image to the image.
        widened: maps other operands to their views with a dimension of one row.
    """

    program: ExportedProgram
    images: dict[Node, Node] = field(default_factory=dict)
    widened: dict[Node, Node] = field(default_factory=dict)

    def of(self, node: Node) -> Iterator[Change]:
        """Rewrites a call if it is a convolution, or if it reads a rewritten line."""
        layer = self._layer(node)
        if layer is not None:
            yield Change(node, "a convolution of one dimension made one of an image with one row")
            self._replace(node, layer.insert(node, _with_row(graphs.value(node))))
        elif any(source in self.images for source in node.all_input_nodes):
            image = self._carried(node)
            if image is not None:
                self._replace(node, image)

    def _layer(self, node: Node) -> FusedConvolution[Node] | Convolution[Node] | None:
        """Returns the convolution of images for a convolution of lines; None for any other call."""
        found = packed_convolution.unpacked(self.program, node)
        if found is None:
            return None
        call, weight = found
        if weight.dim() != 3 or not self._are_lines(node, call.input):
            return None
        of_image = {
            "input": self._image(call.input, node),
            "weight": graphs.add_constant(self.program, f"{node.name}_weight_2d", weight.unsqueeze(2)),
            "stride": (1, *call.stride),
            "padding": (0, *call.padding),
            "dilation": (1, *call.dilation),
        }
        fused, transposed = fused_convolutions.of(node), Convolution.of(node)
        if fused is not None:
            return fused.replace(**of_image, end_padding=(0, *fused.end_padding))
        return transposed and transposed.replace(**of_image, output_padding=(0, *transposed.output_padding))

    def _are_lines(self, node: Node, source: Node) -> bool:
        """Returns whether a convolution and its input, which may be a view of an image, are lines."""
        return (
            _is_line(graphs.value(node))
            and (source in self.images or _is_line(graphs.value(source)))
            # Symbolic channels equal the weight's channels, but ExecuTorch knows this for some calls only.
            and isinstance(graphs.value(source).shape[1], int)
        )

    def _image(self, line: Node, before: Node) -> Node:
        """Returns the image with a line's elements. Inserts a view before a node if there is no image yet."""
        if line in self.images:
            return self.images[line]
        if line not in self.widened:
            self.widened[line] = self._widened(line, before)
        return self.widened[line]

    def _widened(self, line: Node, before: Node) -> Node:
        swapped = PermuteCopy.of(line)
        if swapped is None or swapped.dims != _SWAP or not _is_line(graphs.value(swapped.input)):
            return _view(before, line, _with_row(graphs.value(line)))
        # The view adds the row before the positions, so the permutation gives a channels-last image without a copy.
        rows = _view(before, swapped.input, _with_row(graphs.value(swapped.input), 1))
        return PermuteCopy(rows, _CHANNELS_AHEAD).insert(before, _with_row(graphs.value(line)))

    def _carried(self, node: graphs.Call) -> Node | None:
        """Inserts the call of images for a call of lines, and returns it; None if the call does not support images."""
        line = graphs.value(node)
        if not isinstance(line, torch.Tensor) or not _is_line(line):
            return None
        swapped, cat, pad = PermuteCopy.of(node), Cat.of(node), ConstantPadNd.of(node)
        if swapped is not None and swapped.dims == _SWAP:
            rows = PermuteCopy(self.images[swapped.input], _CHANNELS_BEHIND).insert(node, _with_row(line, 1))
            graphs.replace(node, _view(node, rows, line))
            return None
        values = [graphs.value(source) for source in node.all_input_nodes]
        if not all(isinstance(value, torch.Tensor) and (value.dim() < 2 or _can_widen(value)) for value in values):
            return None
        if cat is not None and all(value.dim() == 3 for value in values):
            images = tuple(self._image(one, node) for one in cat.tensors)
            return Cat(images, cat.dim + cat.dim // 2).insert(node, _with_row(line))
        if graphs.name_of(node) not in channels_last.ELEMENTWISE and (pad is None or len(pad.pad) != 2):
            return None
        args, kwargs = torch.fx.node.map_arg(
            (node.args, dict(node.kwargs)),
            lambda source: self._image(source, node) if graphs.value(source).dim() >= 2 else source,
        )
        image = graphs.insert_call(node, node.target, args, _with_row(line))
        image.kwargs = kwargs
        return image

    def _replace(self, line: Node, image: Node) -> None:
        """Replaces a line by a view of an image."""
        view = _view(line, image, graphs.value(line))
        self.images[view] = image
        graphs.replace(line, view)


def _is_line(value: Any) -> bool:
    return value.dim() == 3 and _can_widen(value)


def _can_widen(value: torch.Tensor) -> bool:
    """Returns whether a view can add a dimension of one row to a tensor."""
    is_known = graphs.view_sizes(value) is not None and not graphs.has_late_sizes(value)
    return is_known and graphs.is_contiguous(value)


def _with_row(value: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Returns the fake tensor of a contiguous tensor with a new dimension of size 1 before dimension `dim`."""
    sizes, strides = list(value.shape), list(value.stride())
    sizes.insert(dim, 1)
    strides.insert(dim, strides[dim - 1])
    return graphs.like(value, sizes, strides)


def _view(before: Node, source: Node, value: torch.Tensor) -> Node:
    """Inserts a view of a tensor before a node, with the sizes of `value`."""
    sizes = graphs.view_sizes(value)
    assert sizes is not None
    return ViewCopy(source, sizes).insert(before, value)


PASS = GraphPass(
    "convolution_1d",
    Stage.LOWERED,
    run=_run,
    reference=(
        "rewrites convolutions of one dimension, [batch, channels, positions], and the calls between them for images "
        "with one row, so that `channels_last` and later passes find them. One size of the input may be dynamic"
    ),
    after=("uneven_padding", "written_activations"),
)
