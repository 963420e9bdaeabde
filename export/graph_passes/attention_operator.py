"""The operator that scaled_dot_product_attention becomes in programs, for PyTorch.

PyTorch's own has no out variant, so no program can have it. Importing this module registers the operator;
kernels/optimized has its kernel.
"""

from __future__ import annotations

import torch

NAMESPACE = "rules_executorch"
_NAME = "scaled_dot_product_attention"
# Heads are dimension -3. Keys and values may have fewer heads than queries, of which each serves as many.
_ARGUMENTS = (
    "Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, bool is_causal=False, *, float? scale=None"
)

# Operators last as long as the library that defines them.
_library = torch.library.Library(NAMESPACE, "DEF")
_library.define(f"{_NAME}({_ARGUMENTS}) -> Tensor")
_library.define(f"{_NAME}.out({_ARGUMENTS}, Tensor(a!) out) -> Tensor(a!)")


def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=query.shape[-3] != key.shape[-3],
    ).contiguous()


def _attention_out(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    out: torch.Tensor,
) -> torch.Tensor:
    return out.copy_(_attention(query, key, value, attn_mask, is_causal, scale=scale))


def _fake_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> torch.Tensor:
    return query.new_empty((*query.shape[:-1], value.shape[-1]))


_library.impl(_NAME, _attention, "CompositeExplicitAutograd")
_library.impl(f"{_NAME}.out", _attention_out, "CompositeExplicitAutograd")
torch.library.register_fake(f"{NAMESPACE}::{_NAME}", _fake_attention, lib=_library)

ATTENTION = torch.ops.rules_executorch.scaled_dot_product_attention.default
