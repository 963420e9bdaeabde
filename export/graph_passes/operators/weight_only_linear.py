"""The operator that linear layers with quantized weights become in programs, for PyTorch.

A weight of Char has an element in each byte, one of Byte two, as packing.py says. Each row has a scale for each of its
groups of elements, which are all as large; scales are Float, whatever the other tensors are.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from export.graph_passes import layouts, packing
from export.graph_passes.calls import WeightOnlyLinear
from export.graph_passes.operators.registration import fakes, implements

# Elements of a group are a multiple of this, where a row has several.
GROUP_MULTIPLE = layouts.QUANTIZED_ROW_BLOCK_BYTES


@implements(WeightOnlyLinear)
def weight_only_linear(call: WeightOnlyLinear[torch.Tensor]) -> torch.Tensor:
    integers = packing.unpack_halves(call.weight) if call.weight.dtype == torch.uint8 else call.weight
    values = integers * call.scale.repeat_interleave(integers.shape[1] // call.scale.shape[1], 1)
    bias = None if call.bias is None else call.bias.float()
    return functional.linear(call.input.float(), values, bias).to(call.input.dtype)


@fakes(WeightOnlyLinear)
def fake_weight_only_linear(call: WeightOnlyLinear[torch.Tensor]) -> torch.Tensor:
    return call.input.new_empty((*call.input.shape[:-1], call.weight.shape[0]))
