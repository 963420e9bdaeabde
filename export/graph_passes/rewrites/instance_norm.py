"""Computes instance norms as group norms of one channel each.

PyTorch decomposes an instance norm into a batch norm of one image whose channels are those of all images. The views
around this batch norm need contiguous images, so that a group norm is the form that can stay channels-last.
"""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.calls import GroupNorm, InstanceNorm
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _rewrite(_: ExportedProgram, node: Node, norm: InstanceNorm[Node]) -> Change | None:
    channels = graphs.value(norm.input).shape[1]
    # Averages that are given, or that the norm updates, are those of a batch norm.
    if not norm.use_input_stats or norm.running_mean is not None or not isinstance(channels, int):
        return None
    return Change(
        node,
        "an instance norm as a group norm",
        GroupNorm(norm.input, channels, norm.weight, norm.bias, eps=norm.eps),
    )


PASS = GraphPass(
    "instance_norm",
    Stage.EXPORTED,
    roots=(InstanceNorm,),
    rewrite=_rewrite,
    reference=(
        "computes instance norms of the input's own averages as `aten::native_group_norm.out`, which `channels_last` "
        "keeps in the order of the convolutions around it"
    ),
)
