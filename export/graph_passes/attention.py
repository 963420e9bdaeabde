"""Keeps scaled_dot_product_attention whole: no scores of all queries with all keys are in memory.

ExecuTorch's own lowering makes it two batched matrix products, a softmax, and copies between them. What a linear layer
gives has tokens before heads, and the kernel takes and gives these as they are: nothing is transposed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN: Any = torch.ops.aten
_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_VIEWS = (_ATEN.reshape.default, _ATEN.view.default, _ATEN._unsafe_view.default)


def _run(program: ExportedProgram) -> list[Change]:
    from export.graph_passes.attention_operator import ATTENTION  # Registers the operator, for programs with it only.

    changes = []
    for node in graphs.calls(program, _ATEN.scaled_dot_product_attention.default):
        query, key, value, mask = (graphs.argument(node, name) for name in ("query", "key", "value", "attn_mask"))
        if graphs.argument(node, "dropout_p") or not _is_supported(query, key, value, mask):
            continue
        shared = [_without_repetition(one) for one in (key, value)]
        repeated = None not in shared
        if repeated:
            key, value = shared
        what = "attention kept whole"
        changes.append(Change.of(node, f"{what}, with heads that share keys and values" if repeated else what))
        scale = graphs.argument(node, "scale")
        kwargs = {} if scale is None else {"scale": scale}
        tensors = {"query": query, "key": key, "value": value}
        for name, tensor in tensors.items():
            if _is_transposed(tensor):
                tensors[name] = tensor.args[0]
                kwargs[f"{name}_by_token"] = True
        args = (*tensors.values(), mask, graphs.argument(node, "is_causal"))
        result = graphs.value(node)
        users = _same_view(node).users
        transposed = [user for user in users if _is_transposed(user)]
        by_token = len(transposed) == len(users)
        if by_token:
            kwargs["out_by_token"] = True
            result = result.transpose(1, 2).contiguous()
        attention = graphs.insert_call(node, ATTENTION, args, result)
        attention.kwargs = kwargs
        for user in transposed if by_token else ():
            graphs.replace(user, attention)
        graphs.replace(node, attention)
    program.graph.eliminate_dead_code()
    program.graph.lint()
    program.graph_module.recompile()
    return changes


def _is_supported(query: Node, key: Node, value: Node, mask: Node | None) -> bool:
    """Whether the operator takes such tensors: of one float dtype, with the same batch."""
    tensors = [graphs.value(one) for one in (query, key, value)]
    first = tensors[0]
    if any(one.dim() != first.dim() or one.dtype != first.dtype for one in tensors) or first.dim() < 3:
        return False
    if any(not graphs.same_sizes(one.shape[:-3], first.shape[:-3]) for one in tensors):
        return False
    if mask is not None and graphs.value(mask).dtype not in (torch.bool, first.dtype):
        return False
    return first.dtype in _FLOATS


def _is_transposed(node: graphs.Call) -> bool:
    """Whether a node has the heads and tokens of another one, of four dimensions, in each other's place."""
    if node.op != "call_function" or graphs.value(node.args[0]).dim() != 4:
        return False
    if node.target is _ATEN.transpose.int:
        return {dim % 4 for dim in node.args[1:]} == {1, 2}
    return node.target is _ATEN.permute.default and [dim % 4 for dim in node.args[1]] == [0, 2, 1, 3]


def _same_view(node: graphs.Call) -> graphs.Call:
    """The last of the views of a node that nothing else reads, if they have the node's sizes."""
    users = list(node.users)
    if len(users) != 1 or users[0].target not in _VIEWS:
        return node
    sizes = [graphs.value(one).shape for one in (node, users[0])]
    return _same_view(users[0]) if graphs.same_sizes(*sizes) else node


def _without_repetition(node: graphs.Call) -> graphs.Call | None:
    """Keys or values before each of their heads was repeated, as transformers' repeat_kv does; None if none was."""
    if node.target not in _VIEWS:
        return None
    expanded: graphs.Call = node.args[0]
    if getattr(expanded, "target", None) is _ATEN.clone.default:
        expanded = expanded.args[0]
    if not isinstance(expanded, Node) or expanded.target is not _ATEN.expand.default:
        return None
    single: graphs.Call = expanded.args[0]
    while isinstance(single, Node) and single.target is _ATEN.slice.Tensor:
        if not graphs.same_sizes(graphs.value(single).shape, graphs.value(single.args[0]).shape):
            return None
        single = single.args[0]
    if not isinstance(single, Node) or single.target is not _ATEN.unsqueeze.default or single.args[1] != 2:
        return None
    source = single.args[0]
    before, after, result = (graphs.value(one).shape for one in (source, expanded, node))
    is_repetition = (
        len(before) == 4
        and graphs.same_sizes([*after[:2], *after[3:]], before)
        and graphs.same_sizes(result, [before[0], before[1] * after[2], before[2], before[3]])
    )
    return source if is_repetition else None


PASS = GraphPass("attention", Stage.EXPORTED, _run)
