"""The operator that linear layers with packed weights become in programs, for PyTorch.

Importing this module registers the operator; kernels/optimized has its kernel.
"""

from __future__ import annotations

import torch

from export.graph_passes import activation as activations
from export.graph_passes import own_operators

# Columns of a panel. All instruction sets have tiles of a divisor of it.
_COLUMNS = 48


def pack(weight: torch.Tensor) -> torch.Tensor:
    """A layer's weights as panels: element [p, k, j] is that of output p * 48 + j and input k.

    The last panel is filled up with zeros. Of bfloat16, which processors multiply in pairs, element [p, k, j, i] is
    that of input 2 * k + i.
    """
    features, inputs = weight.shape
    panels = -(-features // _COLUMNS)
    filled = torch.nn.functional.pad(weight.detach(), (0, 0, 0, panels * _COLUMNS - features))
    if weight.dtype == torch.bfloat16:
        return filled.reshape(panels, _COLUMNS, inputs // 2, 2).transpose(1, 2).contiguous()
    return filled.reshape(panels, _COLUMNS, inputs).transpose(1, 2).contiguous()


def unpack(panels: torch.Tensor, features: int) -> torch.Tensor:
    """The weights as they were before `pack`."""
    rows = panels.transpose(1, 2)
    return (rows.flatten(2) if panels.dim() == 4 else rows).flatten(0, 1)[:features]


def can_pack(dtype: torch.dtype, inputs: int) -> bool:
    """Whether there are panels for weights of a dtype, with so many input features."""
    return dtype in (torch.float32, torch.float16) or (dtype == torch.bfloat16 and inputs % 2 == 0)


def packed_share(features: int) -> float:
    """How much larger packed weights are."""
    return -(-features // _COLUMNS) * _COLUMNS / features


def _packed_linear(  # noqa: PLR0917  # The operator's.
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    out_features: int,
    activation: str = "none",
    minimum: float = 0.0,
    maximum: float = 0.0,
) -> torch.Tensor:
    result = torch.nn.functional.linear(input, unpack(weight, out_features), bias)
    return activations.apply(result, activation, minimum, maximum).contiguous()


def _fake_packed_linear(
    input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, out_features: int, *_: object
) -> torch.Tensor:
    return input.new_empty((*input.shape[:-1], out_features))


own_operators.register(
    "packed_linear",
    f"Tensor input, Tensor weight, Tensor? bias, int out_features, {activations.ARGUMENTS}",
    _packed_linear,
    _fake_packed_linear,
)

PACKED_LINEAR = torch.ops.rules_executorch.packed_linear.default
