"""Checks how operators of ours are registered in PyTorch, on calls that graphs have."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses import FakeTensorMode
from torch.utils import _pytree as pytree

# The kinds of calls that this process has checked.
_checked: set[Hashable] = set()


def check(operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Checks a call, the first of its kind: of an operator, some dtypes, ranks, numbers and strings.

    Args:
        operator: the overload in PyTorch, not the out variant.
        args: of the call.
        kwargs: of the call.
    Raises:
        AssertionError: the fake gives other sizes, strides or another dtype than the operator, or the out variant gives
            other elements.
        torch.library.OpCheckError: the call mutates what the schema does not say, or is not traced as it is run.
    """
    tensors = [one for one in pytree.tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
    is_empty = any(one.numel() == 0 for one in tensors)
    kind = (operator, is_empty, tuple(map(_kind, args)), tuple((name, _kind(kwargs[name])) for name in sorted(kwargs)))
    if kind in _checked:
        return
    _checked.add(kind)
    # Weights may require gradients, which programs do not compute.
    given_args: tuple[Any, ...]
    given_kwargs: dict[str, Any]
    given_args, given_kwargs = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, (tuple(args), dict(kwargs)))
    result = operator(*given_args, **given_kwargs)
    with FakeTensorMode() as mode:
        fakes = pytree.tree_map_only(torch.Tensor, mode.from_tensor, (given_args, given_kwargs))
        fake = operator(*fakes[0], **fakes[1])
    results = pytree.tree_leaves(result)
    described, given = [_described(one) for one in pytree.tree_leaves(fake)], [_described(one) for one in results]
    assert described == given, f"{operator}: the fake gives {described}, the operator {given}"
    out_variant = operator.overloadpacket.out
    names = [one.name for one in out_variant._schema.arguments if one.is_out]
    outs = {name: torch.zeros_like(one) for name, one in zip(names, results, strict=True)}
    written = pytree.tree_leaves(out_variant(*given_args, **given_kwargs, **outs))
    assert all(one is out for one, out in zip(written, outs.values(), strict=True))
    torch.testing.assert_close(written, results, rtol=0, atol=0, equal_nan=True)
    if is_empty:
        return  # opcheck() raises for some strides of tensors without elements.
    with torch.enable_grad():
        torch.library.opcheck(operator, given_args, given_kwargs)


def _described(tensor: torch.Tensor) -> tuple[object, ...]:
    # PyTorch leaves open which stride a dimension of one element has, and all strides of a tensor without elements.
    sizes = tensor.shape if tensor.numel() else ()
    strides = tuple(stride for size, stride in zip(sizes, tensor.stride(), strict=False) if size > 1)
    return tensor.dtype, tuple(tensor.shape), strides


def _kind(argument: Any) -> Hashable:
    if isinstance(argument, torch.Tensor):
        return argument.dtype, argument.dim(), argument.is_contiguous()
    if isinstance(argument, (bool, str)):
        return argument
    return type(argument).__qualname__
