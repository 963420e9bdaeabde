"""The operator for a convolution with its padding and its activation, for PyTorch.

The operator pads the two ends of a spatial dimension by different widths. PyTorch's convolution pads both ends by the
same width.
"""

from __future__ import annotations

import torch

from export.graph_passes.calls import FusedConvolution
from export.graph_passes.operators import activation
from export.graph_passes.operators.registration import implements


@implements(FusedConvolution)
def fused_convolution(call: FusedConvolution[torch.Tensor]) -> torch.Tensor:
    # Widths from the last dimension to the first: before, after.
    ends = zip(call.padding[::-1], call.end_padding[::-1], strict=True)
    padded = torch.nn.functional.pad(call.input, [width for both in ends for width in both])
    zeros = [0] * len(call.padding)
    result = torch.ops.aten.convolution(
        padded, call.weight, call.bias, call.stride, zeros, call.dilation, False, zeros, call.groups
    )
    return activation.apply(call, result)
