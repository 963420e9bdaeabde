"""Reads convolutions as calls of fused_convolution."""

from __future__ import annotations

from typing import TypeGuard

from torch.fx import Node

from export.graph_passes.calls import Convolution, FusedConvolution


def of(node: object) -> FusedConvolution[Node] | None:
    """Returns a call as a fused convolution.

    None if the call is no convolution, if the convolution is transposed, or if its steps are symbolic.
    """
    convolution = Convolution.of(node)
    if convolution is None:
        return FusedConvolution.of(node)
    stride, padding, dilation, groups = (
        convolution.stride,
        convolution.padding,
        convolution.dilation,
        (convolution.groups,),
    )
    if convolution.transposed or not (
        are_known(stride) and are_known(padding) and are_known(dilation) and are_known(groups)
    ):
        return None
    return FusedConvolution(
        convolution.input,
        convolution.weight,
        convolution.bias,
        stride=stride,
        padding=padding,
        end_padding=padding,
        dilation=dilation,
        groups=groups[0],
    )


def are_known(numbers: tuple[int | Node, ...]) -> TypeGuard[tuple[int, ...]]:
    """Returns whether none of the numbers is symbolic."""
    return all(isinstance(number, int) for number in numbers)
