"""The operators of bytes that quantized layers become in programs, for PyTorch; kernels/optimized has their kernels.

A sum of products of input and weight becomes `sum * scale + offset`, where the input's elements are those of Byte: 128
more than those of Char. `offset` has all else that is constant: the bias and the zero points. Rounded and clamped to
quant_min and quant_max, the result is an index into `table`, where there is one: that of a Char is the Byte
of its bits.
Results of a float dtype are neither rounded nor clamped. Convolutions give channels-last images, and their kernel reads
such ones; weights are packed (packing.py).

Importing this module registers the operators.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from export.graph_passes import own_operators, packing

_ELEMENTS = "Tensor input, Tensor weight, Tensor scale, Tensor offset, Tensor? table"
_RANGE = "int quant_min, int quant_max, ScalarType dtype"
# Padding is that before each dimension, and then that behind each.
_SCHEMAS = {
    "quantized_add": "Tensor a, Tensor b, float a_scale, float b_scale, float offset, " + _RANGE,
    "quantized_convolution": f"{_ELEMENTS}, int[] kernel_size, int[] stride, int[] padding, int[] dilation,"
    f" int groups, int input_zero_point, {_RANGE}",
    "quantized_linear": f"{_ELEMENTS}, {_RANGE}",
    "quantized_lookup": "Tensor input, Tensor table",
}


def as_bytes(x: torch.Tensor) -> torch.Tensor:
    """Elements of Char as those of Byte, 128 larger; others as they are."""
    return (x.to(torch.int16) + 128).to(torch.uint8) if x.dtype == torch.int8 else x


def _converted(  # noqa: PLR0917
    sums: torch.Tensor,
    offset: torch.Tensor,
    table: torch.Tensor | None,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    if dtype.is_floating_point:
        return (sums + offset).to(dtype)
    result = torch.round(sums + offset).clamp(quant_min, quant_max).to(dtype)
    return result if table is None else _lookup(result, table)


def _linear(  # noqa: PLR0917, as the operator takes them
    input: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    table: torch.Tensor | None,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    rows = packing.rows_of_panels(weight, scale.numel(), input.shape[-1])
    sums = functional.linear(as_bytes(input).double(), rows.double())
    return _converted(sums * scale.double(), offset.double(), table, quant_min, quant_max, dtype)


def _convolution(  # noqa: PLR0917, as the operator takes them
    input: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    table: torch.Tensor | None,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
    input_zero_point: int,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    unpacked = packing.convolution_of_panels(
        weight, scale.numel(), input.shape[1] // groups, kernel_size, groups
    ).double()
    widths = [padding[1], padding[3], padding[0], padding[2]]
    padded = as_bytes(functional.pad(input, widths, value=input_zero_point)).double()
    sums = functional.conv2d(padded, unpacked, None, stride, 0, dilation, groups).movedim(1, -1)
    result = _converted(sums * scale.double(), offset.double(), table, quant_min, quant_max, dtype)
    return result.movedim(-1, 1).contiguous(memory_format=torch.channels_last)


def _add(  # noqa: PLR0917, as the operator takes them
    a: torch.Tensor,
    b: torch.Tensor,
    a_scale: float,
    b_scale: float,
    offset: float,
    quant_min: int,
    quant_max: int,
    dtype: torch.dtype,
) -> torch.Tensor:
    sums = a.double() * a_scale + b.double() * b_scale
    return _converted(sums, torch.tensor(offset, dtype=torch.float64), None, quant_min, quant_max, dtype)


def _lookup(input: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return table[input.view(torch.uint8).long()]


def _fake_linear(input: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, *args: object) -> torch.Tensor:
    dtype = args[-1]
    assert isinstance(dtype, torch.dtype)
    return input.new_empty((*input.shape[:-1], scale.shape[0]), dtype=dtype)


def _fake_convolution(  # noqa: PLR0917, as the operator takes them
    input: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    table: torch.Tensor | None,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    *args: object,
) -> torch.Tensor:
    dtype = args[-1]
    assert isinstance(dtype, torch.dtype)
    sizes = [
        (input.shape[2 + d] + padding[d] + padding[2 + d] - (kernel_size[d] - 1) * dilation[d] - 1) // stride[d] + 1
        for d in range(2)
    ]
    shape = (input.shape[0], scale.shape[0], *sizes)
    return torch.empty(shape, dtype=dtype, device=input.device, memory_format=torch.channels_last)


def _fake_add(a: torch.Tensor, b: torch.Tensor, *args: object) -> torch.Tensor:
    dtype = args[-1]
    assert isinstance(dtype, torch.dtype)
    return torch.empty_like(a + b, dtype=dtype)


def _fake_lookup(input: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(input, dtype=table.dtype)


for _name, _function, _fake in (
    ("quantized_add", _add, _fake_add),
    ("quantized_convolution", _convolution, _fake_convolution),
    ("quantized_linear", _linear, _fake_linear),
    ("quantized_lookup", _lookup, _fake_lookup),
):
    own_operators.register(_name, _SCHEMAS[_name], _function, _fake)
