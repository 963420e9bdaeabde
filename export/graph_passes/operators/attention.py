"""The operator that scaled_dot_product_attention becomes in programs, for PyTorch.

PyTorch's own has no out variant, so no program can have it. Heads are dimension -3, or -2 in tensors that are ordered
by token. Keys and values may have fewer heads than queries, of which each serves as many.
"""

from __future__ import annotations

import torch

from export.graph_passes.calls import OwnScaledDotProductAttention
from export.graph_passes.operators.registration import fakes, implements


@implements(OwnScaledDotProductAttention)
def attention(call: OwnScaledDotProductAttention[torch.Tensor]) -> torch.Tensor:
    query, key, value = (
        x.transpose(-3, -2) if by_token else x
        for x, by_token in (
            (call.query, call.query_by_token),
            (call.key, call.key_by_token),
            (call.value, call.value_by_token),
        )
    )
    torch._check(query.shape[:-3] == key.shape[:-3] == value.shape[:-3], lambda: "batches differ")
    torch._check(key.shape[-3] == value.shape[-3], lambda: "each key has a value")
    result = torch.nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        call.attn_mask,
        is_causal=call.is_causal,
        scale=call.scale,
        enable_gqa=query.shape[-3] != key.shape[-3],
    )
    return (result.transpose(-3, -2) if call.out_by_token else result).contiguous()


@fakes(OwnScaledDotProductAttention)
def fake_attention(call: OwnScaledDotProductAttention[torch.Tensor]) -> torch.Tensor:
    sizes = [*call.query.shape[:-1], call.value.shape[-1]]
    if call.query_by_token != call.out_by_token:
        sizes[-3], sizes[-2] = sizes[-2], sizes[-3]
    return call.query.new_empty(sizes)
