"""Makes RMS norms one call each: PyTorch's rms_norm, which ExecuTorch's lowering takes apart, and those written out.

Models write RMS norms as `x * rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight`, with casts to float32 and back
where x has fewer bits. The one call rounds once, where these round before the weight as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_CAST = "dim_order_ops::_to_dim_order_copy"


@dataclass(frozen=True)
class _Norm:
    """An RMS norm that some calls compute, of which `last` gives the result."""

    input: Node
    weight: Node | None
    dims: int
    eps: float
    last: Node


def _run(program: ExportedProgram) -> list[Change]:
    changes = []
    for root in graphs.calls(program, _ATEN.rsqrt.default, _ATEN.pow.Tensor_Scalar):
        norm = _norm(program, root)
        if norm is None:
            continue
        from export.graph_passes import rms_norm_operator  # noqa: F401  # Registers it, for programs with it only.

        changes.append(Change.of(norm.last, "an RMS norm made one call"))
        target: Any = graphs.EDGE.rules_executorch.rms_norm.default
        args = (norm.input, norm.weight, norm.dims, norm.eps)
        graphs.replace(norm.last, graphs.insert_call(norm.last, target, args, graphs.value(norm.last)))
    graphs.finish(program)
    return changes


def _norm(program: ExportedProgram, root: graphs.Call) -> _Norm | None:
    """The RMS norm that needs the reciprocal of a root."""
    if len(root.users) != 1 or (root.target is _ATEN.pow.Tensor_Scalar and root.args[1] != -0.5):
        return None
    (product,) = root.users
    mean, eps = _mean_and_eps(program, root.args[0])
    if mean is None or product.target is not _ATEN.mul.Tensor:
        return None
    exact = _squared(mean.args[0])
    other = _other_operand(product, root)
    dims = _last_dims(mean)
    if exact is None or other is None or not dims or _before_cast(other) is not _before_cast(exact):
        return None
    source = _before_cast(exact)
    last, weight = _result(product, graphs.value(source).dtype, graphs.value(exact).shape[-dims:])
    input = source if graphs.value(last).dtype == graphs.value(source).dtype else exact
    x, result = graphs.value(input), graphs.value(last)
    if x.dtype != result.dtype or not graphs.is_contiguous(x) or not graphs.is_contiguous(result):
        return None
    if weight is not None:
        dtypes = (x.dtype, torch.promote_types(x.dtype, torch.float32))
        fitting = (one for one in (_before_cast(weight), weight) if graphs.value(one).dtype in dtypes)
        weight = next(fitting, None)
        if weight is None or not graphs.is_contiguous(graphs.value(weight)):
            return None
    return _Norm(input, weight, dims, eps, last)


def _mean_and_eps(program: ExportedProgram, add: Any) -> tuple[graphs.Call | None, float]:
    """The operands of a sum of a mean and a number."""
    if isinstance(add, Node) and add.target in (_ATEN.add.Tensor, _ATEN.add.Scalar) and not add.kwargs:
        for mean, eps in (add.args, add.args[::-1]) if len(add.args) == 2 else ():
            number = graphs.number(program, eps)
            if number is not None and isinstance(mean, Node) and mean.target is _ATEN.mean.dim:
                return mean, number
    return None, 0.0


def _squared(node: graphs.Call) -> Node | None:
    """What a call squares."""
    if not isinstance(node, Node) or node.target not in (_ATEN.pow.Tensor_Scalar, _ATEN.mul.Tensor):
        return None
    x, other = node.args
    is_square = other == 2 if node.target is _ATEN.pow.Tensor_Scalar else other is x
    return x if is_square and isinstance(x, Node) else None


def _last_dims(mean: graphs.Call) -> int:
    """How many of the last dimensions a mean is of; 0 if it is of others, or does not keep them."""
    x = graphs.value(mean.args[0])
    dims = graphs.argument(mean, "dim") or range(x.dim())
    if not graphs.argument(mean, "keepdim") or graphs.value(mean).dtype != x.dtype:
        return 0
    return len(dims) if {dim % x.dim() for dim in dims} == set(range(x.dim() - len(dims), x.dim())) else 0


def _result(product: Node, dtype: torch.dtype, sizes: Any) -> tuple[Node, Node | None]:
    """The last call of a norm whose input has a dtype, and its weight, which has some sizes."""
    node, weight = product, None
    while len(node.users) == 1:
        (user,) = node.users
        other = _other_operand(user, node) if user.target is _ATEN.mul.Tensor else None
        if _is_cast(user) and graphs.value(user).dtype == dtype != graphs.value(node).dtype:
            node = user
        elif weight is None and other is not None and graphs.same_sizes(graphs.value(other).shape, sizes):
            node, weight = user, other
        else:
            break
    return node, weight


def _other_operand(call: graphs.Call, one: Node) -> Node | None:
    """The tensor that a call of two operands takes besides one of them."""
    others = [operand for operand in call.args if operand is not one]
    return others[0] if len(others) == 1 and isinstance(others[0], Node) else None


def _is_cast(node: Any) -> bool:
    """Whether a node gives the elements of a tensor in another dtype, in the order in which they are."""
    return (
        isinstance(node, Node)
        and graphs.name_of(node) == _CAST
        and graphs.same_layouts(graphs.value(node), graphs.value(node.args[0]))
    )


def _before_cast(node: Any) -> Any:
    """A tensor before it was made one of more bits; the tensor itself if it was not."""
    if not _is_cast(node):
        return node
    wide, narrow = graphs.value(node).dtype, graphs.value(node.args[0]).dtype
    return node.args[0] if narrow.is_floating_point and torch.promote_types(wide, narrow) == wide else node


PASS = GraphPass("rms_norm", Stage.LOWERED, _run)
