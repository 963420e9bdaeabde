"""Fuses RMS norms into one call each: PyTorch's rms_norm, which ExecuTorch decomposes, and norms that models write out.

Models write RMS norms as `x * rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight`. If x has fewer bits than float32,
models cast to float32 and back. The fused call rounds once; the separate calls also round before the multiplication by
the weight.

The operator normalizes the last `dims` dimensions. The weight has the shape of these dimensions. The operator
calculates in float32 if the input has fewer bits, and in the input's dtype otherwise. The weight has the input's dtype
or the dtype of the calculation.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, graphs
from export.graph_passes.graph_pass import Change, GraphPass, Stage
from export.graph_passes.operators.registration import fakes, implements


def _rewrite(
    program: ExportedProgram, root: Node, call: calls.PowTensorScalar[Node] | calls.Rsqrt[Node]
) -> Change | None:
    """Rewrites the RMS norm around the call of a reciprocal square root."""
    product = graphs.only_user(root)
    if product is None or (isinstance(call, calls.PowTensorScalar) and call.exponent != -0.5):
        return None
    mean, eps = _mean_and_eps(program, call.input)
    exact = _squared(mean.input) if mean else None
    other = _other_operand(product, root)
    dims = _last_dims(mean) if mean else 0
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
    return Change(last, "an RMS norm made one call", calls.RmsNorm(input, weight, dims, eps))


def _mean_and_eps(program: ExportedProgram, node: Node) -> tuple[calls.MeanDim[Node] | None, float]:
    """Returns the mean and the number of the sum of a mean and a number."""
    add = calls.AddTensor.of(node) or calls.AddScalar.of(node)
    for mean_node, eps in ((add.input, add.other), (add.other, add.input)) if add and add.alpha == 1 else ():
        number, mean = graphs.number(program, eps), calls.MeanDim.of(mean_node)
        if number is not None and mean is not None:
            return mean, number
    return None, 0.0


def _squared(node: Node) -> Node | None:
    """Returns the tensor that a call squares; None for any other call."""
    power, product = calls.PowTensorScalar.of(node), calls.MulTensor.of(node)
    if power and power.exponent == 2:
        return power.input
    return product.input if product and product.input is product.other else None


def _last_dims(mean: calls.MeanDim[Node]) -> int:
    """Returns the number of last dimensions that a mean reduces; 0 for other dimensions, or without keepdim."""
    x = graphs.value(mean.input)
    dims = mean.dim or range(x.dim())
    if not mean.keepdim or mean.dtype not in (None, x.dtype):
        return 0
    return len(dims) if set(dims) == set(range(x.dim() - len(dims), x.dim())) else 0


def _result(product: Node, dtype: torch.dtype, sizes: Sequence[int | torch.SymInt]) -> tuple[Node, Node | None]:
    """Follows the casts to the input's dtype and the multiplication by a weight of some sizes after a norm.

    Returns:
        The last call of the norm, and the weight, if any.
    """
    node, weight = product, None
    while len(node.users) == 1:
        (user,) = node.users
        other = _other_operand(user, node)
        if _cast(user) and graphs.value(user).dtype == dtype != graphs.value(node).dtype:
            node = user
        elif weight is None and other is not None and graphs.same_sizes(graphs.value(other).shape, sizes):
            node, weight = user, other
        else:
            break
    return node, weight


def _other_operand(node: Node, one: Node) -> Node | None:
    """Returns the other operand of a product with the operand `one`; None for any other call."""
    product = calls.MulTensor.of(node)
    others = [operand for operand in (product.input, product.other) if operand is not one] if product else []
    return others[0] if len(others) == 1 and isinstance(others[0], Node) else None


def _cast(node: Node) -> calls.ToDimOrderCopy[Node] | None:
    """Returns a call that casts a tensor without changing the tensor's layout; None for any other node."""
    copy = calls.ToDimOrderCopy.of(node)
    return copy if copy and graphs.same_layouts(graphs.value(node), graphs.value(copy.input)) else None


def _before_cast(node: Node) -> Node:
    """Returns the tensor before a cast to a dtype of more bits; the tensor itself if there is no such cast."""
    cast = _cast(node)
    if cast is None:
        return node
    wide, narrow = graphs.value(node).dtype, graphs.value(cast.input).dtype
    return cast.input if narrow.is_floating_point and torch.promote_types(wide, narrow) == wide else node


@implements(calls.RmsNorm)
def rms_norm(call: calls.RmsNorm[torch.Tensor]) -> torch.Tensor:
    exact = torch.promote_types(call.input.dtype, torch.float32)
    weight = None if call.weight is None else call.weight.to(exact)
    sizes = call.input.shape[-call.dims :]
    return torch.nn.functional.rms_norm(call.input.to(exact), sizes, weight, call.eps).to(call.input.dtype)


@fakes(calls.RmsNorm)
def fake_rms_norm(call: calls.RmsNorm[torch.Tensor]) -> torch.Tensor:
    return torch.empty_like(call.input)


PASS = GraphPass(
    "rms_norm",
    Stage.LOWERED,
    roots=(calls.PowTensorScalar, calls.Rsqrt),
    rewrite=_rewrite,
    reference=(
        "fuses an RMS norm into one call, `rules_executorch::rms_norm.out`: PyTorch's `rms_norm`, and a norm written "
        "out as in transformers, with its weight and its casts between half precision and float32. The mean is of the "
        "last dimensions"
    ),
    after=("constants",),
)
