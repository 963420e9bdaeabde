"""The expected results of quantized_decomposed operators. PyTorch has no out variants of these."""

import functools
import importlib
import pathlib
import re
from collections.abc import Callable
from typing import Any

import torch
import yaml

# Registers torch.ops.quantized_decomposed.
from torch.ao.quantization.fx import _decomposed  # noqa: F401

_OPS = torch.ops.quantized_decomposed


def mixed_mm(x: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor, zero_points: None) -> torch.Tensor:
    """The expression that ExecuTorch's exporter replaces by the operator, computed in Float."""
    _check_mixed(x, weight, scales, zero_points)
    return (x.float() @ (weight.float() * scales.float()[:, None])).to(x.dtype)


def mixed_linear(
    x: torch.Tensor,
    weight: torch.Tensor,
    scales: torch.Tensor,
    zero_points: None,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The same for a layer, with one scale for each row of weights or for each group in a row."""
    _check_mixed(x, weight, scales, zero_points)
    scales = scales.float().unsqueeze(1) if scales.dim() == 1 else scales.float()
    group_size = max(1, -(-weight.shape[1] // scales.shape[1]))
    dequantized = weight.float() * scales.repeat_interleave(group_size, 1)[:, : weight.shape[1]]
    return (x.float() @ dequantized.T).to(dtype or x.dtype)


def add(a: torch.Tensor, *args: float) -> torch.Tensor:
    """The expression that ExecuTorch's exporter replaces by the operator."""
    b = args[4]
    assert isinstance(b, torch.Tensor)
    x = _OPS.dequantize_per_tensor.default(a, *args[:4], a.dtype)
    y = _OPS.dequantize_per_tensor.default(b, *args[5:9], b.dtype)
    return _OPS.quantize_per_tensor.default(x + y, *args[9:], a.dtype)


def schema(name: str) -> str:
    """The operator's schema in quantized.yaml.

    The dtype is a positional argument, because the keyword `out_dtype` is the dtype of the out tensors.
    """
    return re.sub(r"\*, (ScalarType\? \w+=None), ", r"\1, *, ", _schemas()[name])


def reference(name: str) -> Callable[..., Any]:
    """The function that computes PyTorch's results for the operator."""
    packet, _, overload = name.removeprefix("quantized_decomposed::").partition(".")
    if packet in _REPLACED:
        return _REPLACED[packet]

    def call(*args: Any) -> Any:
        if packet.startswith("embedding"):
            importlib.import_module("executorch.exir.passes._quant_patterns_and_replacements")  # registers them
        functional = getattr(getattr(_OPS, packet), _OVERLOADS[overload])
        by_keyword = [argument.name for argument in functional._schema.arguments if argument.kwarg_only]
        count = len(functional._schema.arguments) - len(by_keyword)
        return functional(*args[:count], **dict(zip(by_keyword, args[count:], strict=False)))

    return call


def _check_mixed(x: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor, zero_points: Any) -> None:
    """Checks arguments as ExecuTorch's kernels do. PyTorch only has the schemas of these operators."""
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or scales.dtype != x.dtype:
        raise TypeError("expected input and scales of the same dtype: Float, Half or BFloat16")
    if x.dim() != 2 or weight.dim() != 2:
        raise TypeError("expected input and weights with 2 dimensions")
    if weight.dtype != torch.int8 or zero_points is not None:
        raise TypeError("expected weights of dtype Char and no zero points")


@functools.cache
def _schemas() -> dict[str, str]:
    text = (pathlib.Path(__file__).parents[1] / "quantized" / "quantized.yaml").read_text()
    return {entry["func"].partition("(")[0]: entry["func"] for entry in yaml.safe_load(text)}


_REPLACED: dict[str, Callable[..., torch.Tensor]] = {"add": add, "mixed_linear": mixed_linear, "mixed_mm": mixed_mm}
_OVERLOADS = {"out": "default", "dtype_out": "dtype", "Tensor_out": "tensor"}
