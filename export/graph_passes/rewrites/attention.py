"""Keeps scaled_dot_product_attention whole, so that the scores of all queries and keys are never in memory at once.

ExecuTorch's own lowering decomposes the operator into two batched matrix products, a softmax, and copies. In the result
of a linear layer, tokens come before heads. The kernel reads and writes this order, so the program transposes nothing.

PyTorch's operator has no out variant, so a program cannot call it. In our operator, heads are dimension -3, or
dimension -2 in tensors that are ordered by token. Keys and values may have fewer heads than queries; each of their
heads then serves the same number of heads of the queries.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, graphs
from export.graph_passes.call import first
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.operators.registration import fakes, implements

_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def _rewrite(_: ExportedProgram, node: Node, attention: calls.ScaledDotProductAttention[Node]) -> Change | None:
    query, key, value, mask = attention.query, attention.key, attention.value, attention.attn_mask
    if attention.dropout_p or not _is_supported(node, query, key, value, mask):
        return None
    what = "attention kept whole"
    shared_key, shared_value = _without_repetition(key), _without_repetition(value)
    if shared_key and shared_value and _share_heads(query, shared_key, shared_value):
        key, value, what = shared_key, shared_value, f"{what}, with heads that share keys and values"
    by_token = [_transposed(tensor) for tensor in (query, key, value)]
    users = [*_same_view(node).users]
    is_out_by_token = all(_transposed(user) for user in users)
    own = calls.OwnScaledDotProductAttention(
        by_token[0] or query,
        by_token[1] or key,
        by_token[2] or value,
        mask,
        attention.is_causal,
        scale=attention.scale,
        query_by_token=by_token[0] is not None,
        key_by_token=by_token[1] is not None,
        value_by_token=by_token[2] is not None,
        out_by_token=is_out_by_token,
    )
    result = graphs.value(node)
    whole = own.insert(node, result.transpose(1, 2).contiguous() if is_out_by_token else result, is_edge=False)
    for user in users if is_out_by_token else ():
        graphs.replace(user, whole)
    return Change(node, what, whole)


def _is_supported(node: Node, query: Node, key: Node, value: Node, mask: Node | None) -> bool:
    """Returns whether the operator supports the tensors: one float dtype, and the batch and heads of the queries."""
    tensors = [graphs.value(one) for one in (query, key, value)]
    first = tensors[0]
    if any(one.dim() != first.dim() or one.dtype != first.dtype for one in tensors) or first.dim() < 3:
        return False
    if any(not graphs.same_sizes(one.shape[:-3], first.shape[:-3]) for one in tensors):
        return False
    if mask is not None and graphs.value(mask).dtype not in (torch.bool, first.dtype):
        return False
    is_as_queries = graphs.same_sizes(graphs.value(node).shape[:-1], first.shape[:-1])
    return first.dtype in _FLOATS and is_as_queries and _share_heads(query, key, value)


def _share_heads(query: Node, key: Node, value: Node) -> bool:
    """Returns whether the number of query heads is a multiple of the number of heads of keys and values."""
    heads, of_keys, of_values = (graphs.value(one).shape[-3] for one in (query, key, value))
    if not graphs.same_sizes([of_keys], [of_values]):
        return False
    return graphs.same_sizes([heads], [of_keys]) or (
        graphs.is_true(of_keys > 0) and graphs.is_true(heads % of_keys == 0)
    )


def _transposed(node: Node) -> Node | None:
    """Returns the input of a call that swaps heads and tokens of four dimensions; None for any other node."""
    transpose, permute = calls.TransposeInt.of(node), calls.Permute.of(node)
    call = transpose or permute
    if call is None or graphs.value(call.input).dim() != 4:
        return None
    swaps = {transpose.dim0, transpose.dim1} == {1, 2} if transpose else permute and permute.dims == (0, 2, 1, 3)
    return call.input if swaps else None


def _view(node: Node) -> Node | None:
    """Returns the input of a view or reshape; None for any other node."""
    call = first((calls.Reshape, calls.UnsafeView, calls.View), node)
    return call.input if call else None


def _same_view(node: Node) -> Node:
    """Follows a chain of views, each the only user, to the last view with the node's sizes; else returns the node."""
    users = list(node.users)
    if len(users) != 1 or _view(users[0]) is None:
        return node
    sizes = [graphs.value(one).shape for one in (node, users[0])]
    return _same_view(users[0]) if graphs.same_sizes(*sizes) else node


def _without_repetition(node: Node) -> Node | None:
    """Returns keys or values before the repetition of heads, as by transformers' repeat_kv; None if not repeated."""
    expanded = _view(node)
    clone = calls.Clone.of(expanded)
    expanded = clone.input if clone else expanded
    expand = calls.Expand.of(expanded)
    if expanded is None or expand is None:
        return None
    single = expand.input
    while (part := calls.SliceTensor.of(single)) is not None:
        if not graphs.same_sizes(graphs.value(single).shape, graphs.value(part.input).shape):
            return None
        single = part.input
    unsqueeze = calls.Unsqueeze.of(single)
    if unsqueeze is None or unsqueeze.dim != 2:
        return None
    source = unsqueeze.input
    before, after, result = (graphs.value(one).shape for one in (source, expanded, node))
    is_repetition = (
        len(before) == 4
        and graphs.same_sizes([*after[:2], *after[3:]], before)
        and graphs.same_sizes(result, [before[0], before[1] * after[2], before[2], before[3]])
    )
    return source if is_repetition else None


@implements(calls.OwnScaledDotProductAttention)
def attention(call: calls.OwnScaledDotProductAttention[torch.Tensor]) -> torch.Tensor:
    query, key, value = (
        x.transpose(-3, -2) if by_token else x
        for x, by_token in (
            (call.query, call.query_by_token),
            (call.key, call.key_by_token),
            (call.value, call.value_by_token),
        )
    )
    torch._check(query.shape[:-3] == key.shape[:-3] == value.shape[:-3], lambda: "batch sizes differ")
    torch._check(key.shape[-3] == value.shape[-3], lambda: "key and value have different lengths")
    result = torch.nn.functional.scaled_dot_product_attention(
        query,
        key,
        value,
        call.attn_mask,
        is_causal=call.is_causal,
        scale=call.scale,
        enable_gqa=query.shape[-3] != key.shape[-3],
    )
    return result.transpose(-3, -2) if call.out_by_token else result


@fakes(calls.OwnScaledDotProductAttention)
def fake_attention(call: calls.OwnScaledDotProductAttention[torch.Tensor]) -> torch.Tensor:
    sizes = [*call.query.shape[:-1], call.value.shape[-1]]
    if call.query_by_token != call.out_by_token:
        sizes[-3], sizes[-2] = sizes[-2], sizes[-3]
    return call.query.new_empty(sizes)


PASS = GraphPass(
    "attention",
    Stage.EXPORTED,
    roots=(calls.ScaledDotProductAttention,),
    rewrite=_rewrite,
    reference=(
        "keeps `scaled_dot_product_attention` whole, as `rules_executorch::scaled_dot_product_attention.out`. If heads "
        "share keys and values (`repeat_kv` of transformers), the program does not repeat keys and values. If tokens "
        "come before heads, as in the result of a linear layer, the program transposes nothing"
    ),
)
