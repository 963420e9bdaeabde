"""Patch: a trace of `flex_attention` has the operators of the attention.

**What**: replaces the higher-order operator that `torch.nn.attention.flex_attention.flex_attention` calls, and leaves
out its compilation.

**Why**: ExecuTorch's lowering does not know the operator, whose score and mask functions are graphs that only
Inductor's templates read. With a mask only, the patch calls `scaled_dot_product_attention`, for which there are graph
passes and kernels. Otherwise it calls PyTorch's own definition of the operator, `math_attention`.

**Effect**: without the patch, the lowering of such a model fails with `'FlexAttentionHOP' object has no attribute
'_schema'`.

**Report**, to PyTorch: `flex_attention` should have a decomposition that `run_decompositions` applies.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch._higher_order_ops.flex_attention import math_attention
from torch.nn import functional
from torch.nn.attention import flex_attention

from export.patches.patch import Patch

PATCH = Patch(
    "dense_attention",
    known={
        "torch.nn.attention.flex_attention:flex_attention": {"2.13": "4e59e0436ce6"},
        "torch._higher_order_ops.flex_attention:math_attention": {"2.13": "d18274c68c15"},
        "torch._higher_order_ops.flex_attention:_math_attention_inner": {"2.13": "aee4bac0b287"},
    },
    without="models that call flex_attention cannot be exported",
)


def traced() -> contextlib.AbstractContextManager[None]:
    """Traces `flex_attention` as operators during the block."""
    return PATCH.applied(
        flex_attention,
        flex_attention_hop=_attend,
        # The environment of a compilation leaves out the modes of the trace.
        setup_compilation_env=lambda: contextlib.nullcontext("eager"),
        _FLEX_ATTENTION_DISABLE_COMPILE_DEBUG=True,
    )


def _attend(  # noqa: PLR0917  # The arguments of the operator.
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    score_mod: Callable[..., torch.Tensor],
    block_mask: tuple[Any, ...],
    scale: float,
    options: Mapping[str, Any],
) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
    """Returns the result of the higher-order operator: the values, and what its caller asks for of the scores.

    Args:
        query: [B, Hq, L, E].
        key: [B or 1, Hkv, S, E].
        value: [B or 1, Hkv, S, Ev].
        score_mod: the function of a score and its indices: batch, head, query and key.
        block_mask: the items of a BlockMask. The last one is the function that says whether a score counts.
        scale: the factor of the scores.
        options: the options of the operator.
    """
    # In other dtypes, scaled_dot_product_attention rounds other intermediate results.
    is_plain = query.dtype == torch.float32 and not options["OUTPUT_LOGSUMEXP"]
    if not is_plain or score_mod is not flex_attention._identity:
        return math_attention(query, key, value, score_mod, block_mask, scale, dict(options))
    batch = query.shape[0]
    out = functional.scaled_dot_product_attention(
        query,
        key.expand(batch, *key.shape[1:]),
        value.expand(batch, *value.shape[1:]),
        attn_mask=_mask(block_mask[-1], (*query.shape[:3], key.shape[2])),
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
    )
    return out, None, None


def _mask(mask_mod: Callable[..., torch.Tensor], sizes: tuple[int, ...]) -> torch.Tensor | None:
    """Returns whether each score counts, [B, Hq, L, S]; None if all do."""
    if mask_mod is flex_attention.noop_mask:
        return None
    with TransformGetItemToIndex():
        mask: torch.Tensor = flex_attention._vmap_for_bhqkv(mask_mod, prefix=())(*map(torch.arange, sizes))
    return mask
