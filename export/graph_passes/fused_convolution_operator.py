"""The operator that convolutions become with what is before and behind them, for PyTorch.

Importing this module registers the operator; kernels/optimized has its kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from export.graph_passes import activation as activations
from export.graph_passes import own_operators

# Zeros before the first and behind the last element of each spatial dimension. PyTorch's operator has as many at both
# ends.
_ARGUMENTS = (
    "Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] end_padding, int[] dilation,"
    f" int groups, {activations.ARGUMENTS}"
)


def _convolution(  # noqa: PLR0917  # The operator's.
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    end_padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    activation: str = "none",
    minimum: float = 0.0,
    maximum: float = 0.0,
) -> torch.Tensor:
    # From the last dimension on: before, behind.
    widths = [width for ends in zip(padding[::-1], end_padding[::-1], strict=True) for width in ends]
    padded = torch.nn.functional.pad(input, widths)
    zeros = [0] * len(padding)
    result = torch.ops.aten.convolution(padded, weight, bias, stride, zeros, dilation, False, zeros, groups)
    return activations.apply(result, activation, minimum, maximum)


own_operators.register("fused_convolution", _ARGUMENTS, _convolution, _convolution)

FUSED_CONVOLUTION = torch.ops.rules_executorch.fused_convolution.default
