"""The operator for embeddings that share their table with the packed weight of a linear layer, for PyTorch."""

from __future__ import annotations

import torch

from export.graph_passes.calls import PackedEmbedding
from export.graph_passes.operators import packed_linear
from export.graph_passes.operators.registration import fakes, implements


@implements(PackedEmbedding)
def packed_embedding(call: PackedEmbedding[torch.Tensor]) -> torch.Tensor:
    table = packed_linear.unpack(call.weight, call.num_embeddings)
    return torch.nn.functional.embedding(call.indices, table)


@fakes(PackedEmbedding)
def fake_packed_embedding(call: PackedEmbedding[torch.Tensor]) -> torch.Tensor:
    panels, _, columns, *_ = call.weight.shape
    return call.weight.new_empty((*call.indices.shape, call.weight.numel() // (panels * columns)))
