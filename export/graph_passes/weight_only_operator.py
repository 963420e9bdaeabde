"""The operator that linear layers with quantized weights become in programs, for PyTorch.

A weight of Char has an element in each byte, one of Byte two, as packing.py says. Each row has a scale for each of its
groups of elements, which are all as large; scales are Float, whatever the other tensors are. Importing this module
registers the operator; kernels/optimized has its kernel.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from export.graph_passes import own_operators, packing

# Elements of a group are a multiple of this, where a row has several.
GROUP_MULTIPLE = 16


def _linear(input: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    integers = packing.unpack_halves(weight) if weight.dtype == torch.uint8 else weight
    values = integers * scale.repeat_interleave(integers.shape[1] // scale.shape[1], 1)
    return functional.linear(input.float(), values, None if bias is None else bias.float()).to(input.dtype)


def _fake_linear(input: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, bias: object) -> torch.Tensor:
    return input.new_empty((*input.shape[:-1], weight.shape[0]))


own_operators.register(
    "weight_only_linear", "Tensor input, Tensor weight, Tensor scale, Tensor? bias", _linear, _fake_linear
)
