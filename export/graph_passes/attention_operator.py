"""The operator that scaled_dot_product_attention becomes in programs, for PyTorch.

PyTorch's own has no out variant, so no program can have it. Importing this module registers the operator;
kernels/optimized has its kernel.
"""

from __future__ import annotations

import torch

from export.graph_passes import own_operators

# Heads are dimension -3, or -2 in tensors that are ordered by token. Keys and values may have fewer heads than queries,
# of which each serves as many.
_ARGUMENTS = (
    "Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, bool is_causal=False, *, float? scale=None,"
    " bool query_by_token=False, bool key_by_token=False, bool value_by_token=False, bool out_by_token=False"
)


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    query_by_token: bool = False,
    key_by_token: bool = False,
    value_by_token: bool = False,
    out_by_token: bool = False,
) -> torch.Tensor:
    query, key, value = (
        x.transpose(-3, -2) if by_token else x
        for x, by_token in ((query, query_by_token), (key, key_by_token), (value, value_by_token))
    )
    result = torch.nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=query.shape[-3] != key.shape[-3],
    )
    return (result.transpose(-3, -2) if out_by_token else result).contiguous()


def _fake_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *_: object,
    query_by_token: bool = False,
    out_by_token: bool = False,
    **_others: object,
) -> torch.Tensor:
    sizes = [*query.shape[:-1], value.shape[-1]]
    if query_by_token != out_by_token:
        sizes[-3], sizes[-2] = sizes[-2], sizes[-3]
    return query.new_empty(sizes)


own_operators.register("scaled_dot_product_attention", _ARGUMENTS, _attention, _fake_attention)

ATTENTION = torch.ops.rules_executorch.scaled_dot_product_attention.default
