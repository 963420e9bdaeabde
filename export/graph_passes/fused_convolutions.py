"""Makes convolutions calls of the operator that does more than PyTorch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.fx import Node

from export.graph_passes import graphs


def insert(convolution: graphs.Call, source: Node, before: Sequence[int], behind: Sequence[int]) -> Node:
    """A call in front of a convolution that is not transposed, of `source` with other padding."""
    from export.graph_passes import fused_convolution_operator  # noqa: F401  # Registers it, for programs with it only.

    target: Any = graphs.EDGE.rules_executorch.fused_convolution.default
    _, weight, bias, stride, _, dilation, _, _, groups = convolution.args
    args = (source, weight, bias, stride, list(before), list(behind), dilation, groups)
    return graphs.insert_call(convolution, target, args, graphs.value(convolution))
