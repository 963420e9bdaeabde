"""The operator that linear layers become whose input is quantized while the program runs, for PyTorch.

Each row of the input becomes Chars, with a scale and a zero point of its own. A weight of Char has an element in each
byte, one of Byte two; each output feature has a scale for each of its groups of weights, which are all as large, and an
offset: the sum of its weights, times their scales. All is calculated in float32 and rounded once; scales, offsets and,
if need be, biases are Float, whatever the input is. packing.py says how weights and scales lie.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from export.graph_passes import layouts, packing
from export.graph_passes.calls import DynamicLinear
from export.graph_passes.operators.registration import fakes, implements

# Elements of a group are a multiple of this, where a row has several.
GROUP_MULTIPLE = layouts.BYTE_PANEL_ROW_MULTIPLE


# Between which bounds the least and the largest value of a row count: that of zero is exact.
_SIGNS = ((None, 0.0), (0.0, None))


@implements(DynamicLinear)
def dynamic_linear(call: DynamicLinear[torch.Tensor]) -> torch.Tensor:
    floats, features = call.input.float(), call.offset.numel()
    low, high = (
        limit.clamp(*bounds) for limit, bounds in zip(floats.aminmax(dim=-1, keepdim=True), _SIGNS, strict=True)
    )
    scales = (torch.maximum(-low, high) / 127.5 if call.is_symmetric else (high - low) / 255.0).clamp(min=call.eps)
    zero_points = torch.zeros_like(scales) if call.is_symmetric else (-128 - torch.round(low / scales)).clamp(-128, 127)
    quantized = (torch.round(floats * (1.0 / scales)) + zero_points).clamp(-128, 127)
    integers = packing.rows_of_dynamic_panels(call.weight, features, call.input.shape[-1])
    groups = packing.columns_of_panels(call.scale, features)
    values = integers * groups.repeat_interleave(integers.shape[1] // groups.shape[1], 1)
    sums = functional.linear(quantized.double() + 128, values.double()) - (zero_points.double() + 128) * call.offset
    result = (sums * scales).float()
    return (result if call.bias is None else result + call.bias).to(call.input.dtype)


@fakes(DynamicLinear)
def fake_dynamic_linear(call: DynamicLinear[torch.Tensor]) -> torch.Tensor:
    return call.input.new_empty((*call.input.shape[:-1], call.offset.shape[0]))
