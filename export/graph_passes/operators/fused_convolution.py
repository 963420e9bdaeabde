"""The operator for a convolution with its padding and its activation, for PyTorch.

The operator pads the two ends of a spatial dimension by different widths. PyTorch's convolution pads both ends by the
same width.
"""

from __future__ import annotations

import torch

from export.graph_passes.calls import FusedConvolution
from export.graph_passes.operators import activation, windows
from export.graph_passes.operators.registration import implements


@implements(FusedConvolution)
def fused_convolution(call: FusedConvolution[torch.Tensor]) -> torch.Tensor:
    image, zeros = windows.padded(call.input, call.padding + call.end_padding), [0] * len(call.padding)
    result = torch.ops.aten.convolution(
        image, call.weight, call.bias, call.stride, zeros, call.dilation, False, zeros, call.groups
    )
    return activation.apply(call, result)
