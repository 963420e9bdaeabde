"""Descriptions of calls and values for messages."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from kernels.testing import inputs


def describe_call(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """For example: aten::add.out(float32[2, 3], float32[3], alpha=2)"""
    values = [describe_value(value) for value in args]
    values += [f"{argument}={describe_value(value)}" for argument, value in kwargs.items()]
    return f"{name}({', '.join(values)})"


def describe_value(value: Any) -> str:
    """The dtype and shape of a tensor, and the dim order unless contiguous; other values as in Python."""
    if isinstance(value, torch.Tensor):
        contiguous = tuple(range(value.dim()))
        order = inputs.dim_order_of(value) if value.numel() else contiguous
        layout = "" if order == contiguous else f" dim order {list(order)}"
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}{layout}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
        return f"[{', '.join(describe_value(item) for item in value)}]"
    return repr(value)
