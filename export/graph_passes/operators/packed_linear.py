"""The operators for linear layers with packed weights, and for embeddings that share such a weight, for PyTorch."""

from __future__ import annotations

import torch

from export.graph_passes import layouts
from export.graph_passes.calls import PackedEmbedding, PackedLinear
from export.graph_passes.operators import activation
from export.graph_passes.operators.registration import fakes, implements

# Columns of a panel.
_COLUMNS = layouts.FLOAT_PANEL_COLUMNS


def pack(weight: torch.Tensor) -> torch.Tensor:
    """Packs a weight [output features, input features] into panels of output features.

    Element [p, k, j] of the result is the weight of output feature `p * columns + j` and input feature k, where
    `columns` is the width of a panel. Zeros fill up the last panel. In bfloat16, which processors multiply in pairs,
    element [p, k, j, i] is the weight of input feature 2 * k + i.
    """
    features, inputs = weight.shape
    panels = -(-features // _COLUMNS)
    filled = torch.nn.functional.pad(weight.detach(), (0, 0, 0, panels * _COLUMNS - features))
    if weight.dtype == torch.bfloat16:
        return filled.reshape(panels, _COLUMNS, inputs // 2, 2).transpose(1, 2).contiguous()
    return filled.reshape(panels, _COLUMNS, inputs).transpose(1, 2).contiguous()


def unpack(panels: torch.Tensor, features: int) -> torch.Tensor:
    """Returns the weights before `pack`."""
    rows = panels.transpose(1, 2)
    return (rows.flatten(2) if panels.dim() == 4 else rows).flatten(0, 1)[:features]


def can_pack(dtype: torch.dtype, inputs: int) -> bool:
    """Returns whether `pack` supports weights of a dtype with a number of input features."""
    return dtype in (torch.float32, torch.float16) or (dtype == torch.bfloat16 and inputs % 2 == 0)


def packed_share(features: int) -> float:
    """Returns the size of packed weights, relative to unpacked weights."""
    return -(-features // _COLUMNS) * _COLUMNS / features


@implements(PackedLinear)
def packed_linear(call: PackedLinear[torch.Tensor]) -> torch.Tensor:
    result = torch.nn.functional.linear(call.input, unpack(call.weight, call.out_features), call.bias)
    return activation.apply(call, result)


@fakes(PackedLinear)
def fake_packed_linear(call: PackedLinear[torch.Tensor]) -> torch.Tensor:
    return call.input.new_empty((*call.input.shape[:-1], call.out_features))


@implements(PackedEmbedding)
def packed_embedding(call: PackedEmbedding[torch.Tensor]) -> torch.Tensor:
    return torch.nn.functional.embedding(call.indices, unpack(call.weight, call.num_embeddings))


@fakes(PackedEmbedding)
def fake_packed_embedding(call: PackedEmbedding[torch.Tensor]) -> torch.Tensor:
    panels, _, columns, *_ = call.weight.shape
    return call.weight.new_empty((*call.indices.shape, call.weight.numel() // (panels * columns)))
