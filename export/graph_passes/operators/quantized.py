"""The operators of quantized layers, for PyTorch. Their kernels are in kernels/optimized.

A layer computes `sum * scale + offset`, where `sum` is the sum of products of inputs and weights. An input of Char
counts as Byte, with 128 added. `offset` contains the bias and the terms of the zero points. A result of bytes is
rounded and clamped to quant_min and quant_max. If there is a `table`, the bits of the result, read as Byte, are an
index into the table. A result of a float dtype is neither rounded nor clamped.

Weights are packed (packing.py). Padding has the widths before each spatial dimension, and then the widths after each.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch.nn import functional

from export.graph_passes import packing
from export.graph_passes.calls import QuantizedAdd, QuantizedConvolution, QuantizedLinear, QuantizedLookup
from export.graph_passes.operators import windows
from export.graph_passes.operators.registration import fakes, implements


def as_bytes(x: torch.Tensor) -> torch.Tensor:
    """Converts Char to Byte by adding 128. Returns Byte unchanged."""
    return (x.to(torch.int16) + 128).to(torch.uint8) if x.dtype == torch.int8 else x


class _Range(Protocol):
    """A call of an operator whose result is bytes or floats."""

    @property
    def quant_min(self) -> int: ...
    @property
    def quant_max(self) -> int: ...
    @property
    def dtype(self) -> torch.dtype: ...


def _converted(call: _Range, sums: torch.Tensor, table: torch.Tensor | None = None) -> torch.Tensor:
    if call.dtype.is_floating_point:
        return sums.to(call.dtype)
    result = torch.round(sums).clamp(call.quant_min, call.quant_max).to(call.dtype)
    return result if table is None else _looked_up(result, table)


def _looked_up(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return table[x.view(torch.uint8).long()]


@implements(QuantizedLinear)
def quantized_linear(call: QuantizedLinear[torch.Tensor]) -> torch.Tensor:
    rows = packing.rows_of_panels(call.weight, call.scale.numel(), call.input.shape[-1])
    sums = functional.linear(as_bytes(call.input).double(), rows.double())
    return _converted(call, sums * call.scale.double() + call.offset.double(), call.table)


@fakes(QuantizedLinear)
def fake_quantized_linear(call: QuantizedLinear[torch.Tensor]) -> torch.Tensor:
    return call.input.new_empty((*call.input.shape[:-1], call.scale.shape[0]), dtype=call.dtype)


@implements(QuantizedConvolution)
def quantized_convolution(call: QuantizedConvolution[torch.Tensor]) -> torch.Tensor:
    channels = call.input.shape[1] // call.groups
    weight = packing.convolution_of_panels(
        call.weight, call.scale.numel(), channels, list(call.kernel_size), call.groups
    )
    padded = windows.padded(call.input, call.padding, call.input_zero_point)
    sums = functional.conv2d(
        as_bytes(padded).double(), weight.double(), None, call.stride, 0, call.dilation, call.groups
    ).movedim(1, -1)
    result = _converted(call, sums * call.scale.double() + call.offset.double(), call.table)
    return result.movedim(-1, 1)


@fakes(QuantizedConvolution)
def fake_quantized_convolution(call: QuantizedConvolution[torch.Tensor]) -> torch.Tensor:
    sizes = windows.sizes(call.input.shape[2:], call.padding, call.kernel_size, call.stride, call.dilation)
    return call.input.new_empty((call.input.shape[0], call.scale.shape[0], *sizes), dtype=call.dtype)


@implements(QuantizedAdd)
def quantized_add(call: QuantizedAdd[torch.Tensor]) -> torch.Tensor:
    return _converted(call, call.a.double() * call.a_scale + call.b.double() * call.b_scale + call.offset)


@implements(QuantizedLookup)
def quantized_lookup(call: QuantizedLookup[torch.Tensor]) -> torch.Tensor:
    return _looked_up(call.input, call.table)


@fakes(QuantizedLookup)
def fake_quantized_lookup(call: QuantizedLookup[torch.Tensor]) -> torch.Tensor:
    return torch.empty_like(call.input, dtype=call.table.dtype)
