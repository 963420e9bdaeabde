"""The operator that linear layers become whose input is quantized while the program runs, for PyTorch.

Each row of the input becomes Chars, with a scale and a zero point of its own. A weight of Char has an element in each
byte, one of Byte two; each output feature has a scale for each of its groups of weights, which are all as large, and an
offset: the sum of its weights, times their scales. All is calculated in float32 and rounded once; scales, offsets and,
if need be, biases are Float, whatever the input is. packing.py says how weights and scales lie. Importing this module
registers the operator; kernels/optimized has its kernel.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from export.graph_passes import own_operators, packing

# Elements of a group are a multiple of this, where a row has several.
GROUP_MULTIPLE = 8


def _linear(  # noqa: PLR0917, as the operator takes them
    input: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    bias: torch.Tensor | None,
    is_symmetric: bool,
    eps: float,
) -> torch.Tensor:
    floats = input.float()
    low, high = (
        limit.clamp(*bounds) for limit, bounds in zip(floats.aminmax(dim=-1, keepdim=True), _SIGNS, strict=True)
    )
    scales = (torch.maximum(-low, high) / 127.5 if is_symmetric else (high - low) / 255.0).clamp(min=eps)
    zero_points = torch.zeros_like(scales) if is_symmetric else (-128 - torch.round(low / scales)).clamp(-128, 127)
    quantized = (torch.round(floats * (1.0 / scales)) + zero_points).clamp(-128, 127)
    integers = packing.rows_of_dynamic_panels(weight, offset.numel(), input.shape[-1])
    groups = packing.columns_of_panels(scale, offset.numel())
    values = integers * groups.repeat_interleave(integers.shape[1] // groups.shape[1], 1)
    sums = functional.linear(quantized.double() + 128, values.double()) - (zero_points.double() + 128) * offset
    result = (sums * scales).float()
    return (result if bias is None else result + bias).to(input.dtype)


# Between which bounds the least and the largest value of a row count: that of zero is exact.
_SIGNS = ((None, 0.0), (0.0, None))


def _fake_linear(
    input: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, offset: torch.Tensor, *_: object
) -> torch.Tensor:
    return input.new_empty((*input.shape[:-1], offset.shape[0]))


own_operators.register(
    "dynamic_linear",
    "Tensor input, Tensor weight, Tensor scale, Tensor offset, Tensor? bias, bool is_symmetric, float eps",
    _linear,
    _fake_linear,
)
