"""The operator that embeddings become whose table is the packed weights of a linear layer, for PyTorch.

Importing this module registers the operator; kernels/optimized has its kernel.
"""

from __future__ import annotations

from typing import Any

import torch

from export.graph_passes import graphs, own_operators, packed_linear_operator


def _packed_embedding(weight: torch.Tensor, indices: torch.Tensor, num_embeddings: int) -> torch.Tensor:
    return torch.nn.functional.embedding(indices, packed_linear_operator.unpack(weight, num_embeddings)).contiguous()


def _fake_packed_embedding(weight: torch.Tensor, indices: torch.Tensor, num_embeddings: int) -> torch.Tensor:
    return weight.new_empty((*indices.shape, weight.numel() // (weight.shape[0] * weight.shape[2])))


own_operators.register(
    "packed_embedding", "Tensor weight, Tensor indices, int num_embeddings", _packed_embedding, _fake_packed_embedding
)

PACKED_EMBEDDING = torch.ops.rules_executorch.packed_embedding.default


def edge_operator() -> Any:
    """The operator as graphs of the edge dialect call it."""
    return graphs.EDGE.rules_executorch.packed_embedding.default
