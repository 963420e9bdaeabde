"""The operator that convolutions become with what is before and behind them, for PyTorch.

It pads each end of a spatial dimension by a width of its own, where PyTorch's operator pads both by the same.
"""

from __future__ import annotations

import torch

from export.graph_passes.calls import FusedConvolution
from export.graph_passes.operators import activation
from export.graph_passes.operators.registration import implements


@implements(FusedConvolution)
def fused_convolution(call: FusedConvolution[torch.Tensor]) -> torch.Tensor:
    # From the last dimension on: before, behind.
    ends = zip(call.padding[::-1], call.end_padding[::-1], strict=True)
    padded = torch.nn.functional.pad(call.input, [width for both in ends for width in both])
    zeros = [0] * len(call.padding)
    result = torch.ops.aten.convolution(
        padded, call.weight, call.bias, call.stride, zeros, call.dilation, False, zeros, call.groups
    )
    return activation.apply(call, result)
