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
        _are_known(stride) and _are_known(padding) and _are_known(dilation) and _are_known(groups)
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


def _are_known(numbers: tuple[int | Node, ...]) -> TypeGuard[tuple[int, ...]]:
    return all(isinstance(number, int) for number in numbers)
