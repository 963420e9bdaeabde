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
    return None if convolution.transposed else with_known_steps(convolution)


def with_known_steps(call: Convolution[Node]) -> FusedConvolution[Node] | None:
    """Returns the arguments of a convolution, which may be transposed; None if the steps are symbolic.

    A transposed convolution removes `padding` and `end_padding` from the outputs. A negative number adds outputs.
    """
    stride, padding, added, dilation = call.stride, call.padding, call.output_padding, call.dilation
    groups = (call.groups,)
    if not (
        _are_known(stride) and _are_known(padding) and _are_known(added) and _are_known(dilation) and _are_known(groups)
    ):
        return None
    return FusedConvolution(
        call.input,
        call.weight,
        call.bias,
        stride=stride,
        padding=padding,
        end_padding=tuple(end - more for end, more in zip(padding, added, strict=True)) if call.transposed else padding,
        dilation=dilation,
        groups=groups[0],
    )


def _are_known(numbers: tuple[int | Node, ...]) -> TypeGuard[tuple[int, ...]]:
    """Returns whether none of the numbers is symbolic."""
    return all(isinstance(number, int) for number in numbers)
