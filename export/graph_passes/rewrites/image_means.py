"""Makes means of channels-last images one call each, which reads the images in their order.

ExecuTorch copies images to the order of contiguous memory before a mean.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import ImageMean, MeanDim, ToDimOrderCopy
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.operators.registration import implements


@implements(ImageMean)
def image_mean(call: ImageMean[torch.Tensor]) -> torch.Tensor:
    return call.input.mean((2, 3), keepdim=call.keepdim)


def _rewrite(_: ExportedProgram, node: Node, mean: MeanDim[Node]) -> Change | None:
    images = _before_copy(mean.input)
    if mean.dim is None or {*mean.dim} != {2, 3} or not _takes(graphs.value(images), graphs.value(node)):
        return None
    return Change(node, "a mean of channels-last images", ImageMean(images, mean.keepdim))


def _before_copy(node: Node) -> Node:
    """Returns what a call copies to another order; the node itself for any other node."""
    copy = ToDimOrderCopy.of(node)
    return copy.input if copy and graphs.value(copy.input).dtype == graphs.value(node).dtype else node


def _takes(images: torch.Tensor, result: torch.Tensor) -> bool:
    is_float = images.is_floating_point() and images.dtype == result.dtype
    return is_float and images.dim() == 4 and graphs.is_channels_last(images) and not graphs.is_contiguous(images)


PASS = GraphPass(
    "image_means",
    Stage.LOWERED,
    roots=(MeanDim,),
    rewrite=_rewrite,
    reference=(
        "replaces a mean over the rows and columns of channels-last images, such as in squeeze-and-excitation, and the "
        "copy before it by `rules_executorch::image_mean.out`"
    ),
    after=("channels_last",),
)
