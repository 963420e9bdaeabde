"""Patch: a trace writes to places that tensors without dimensions give, as in `self.cache[:, self.position] = x`.

**What**: wraps `_override` of `torch._export.non_strict_utils._NonStrictTorchFunctionHandler`, which redirects calls
that cannot be traced.

**Why**: Python asks such an index, or the bound of a slice, for a number that a trace does not know. PyTorch redirects
reads. The patch redirects writes: to `index_put_`, which takes tensors.

**Effect**: without the patch, the export of such models fails with `Could not extract specialized integer`.

**Report**, to PyTorch: `_override` should redirect `__setitem__`, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch._export import non_strict_utils

from export.patches.patch import Patch

PATCH = Patch(
    "scalar_indices",
    known={"torch._export.non_strict_utils:_NonStrictTorchFunctionHandler": {"2.13": "fce53ae54f82"}},
    without="models that write to a place that a tensor without dimensions gives cannot be exported",
)


def written() -> contextlib.AbstractContextManager[None]:
    """Redirects writes to places that tensors give, in traces of torch.export during the block."""
    return PATCH.wrapped(non_strict_utils._NonStrictTorchFunctionHandler, "_override", _override)


def _override(original: Callable[..., Any], handler: Any, func: Any, args: Any, kwargs: Any) -> Any:
    if func is torch.Tensor.__setitem__ and (call := write(*args)):
        return call, (), {}
    return original(handler, func, args, kwargs)


def write(tensor: torch.Tensor, index: Any, value: Any) -> Callable[[], None] | None:
    """Returns a function that does `tensor[index] = value`, without numbers of tensors.

    Args:
        tensor: the tensor to write to.
        index: the index: numbers, slices, None, an ellipsis, and tensors of integers without dimensions. The bounds of
            slices may be such tensors. Their number is that of the rows of the value.
        value: the value, a number or a tensor.
    Returns:
        The function; None if the index has no such tensors, or other items.
    """
    items = [*index] if isinstance(index, tuple) else [index]
    if not any(_is_unknown(one) for item in items for one in _numbers(item)):
        return None
    if not all(item is None or item is Ellipsis or all(map(_is_number, _numbers(item))) for item in items):
        return None
    around = [place for place, item in enumerate(items) if item is Ellipsis]
    rest = [slice(None)] * (tensor.ndim - sum(item is not None and item is not Ellipsis for item in items))
    items[slice(around[0], around[0] + 1) if around else slice(len(items), None)] = rest
    # The items without tensors give a view. Each tensor is then at one of the dimensions of the view.
    view = tensor[tuple(slice(None) if any(map(_is_unknown, _numbers(item))) else item for item in items)]
    of_view = [item for item in items if not isinstance(item, int | torch.SymInt)]
    if not isinstance(value, torch.Tensor):
        value = torch.full((), value, dtype=tensor.dtype)
    sizes: list[Any] = [view.shape[dim] for dim in range(view.ndim)]
    places: dict[int, torch.Tensor] = {}
    # The dimensions of the value are those of the view but the ones that an index removes.
    kept = [dim for dim, item in enumerate(of_view) if not isinstance(item, torch.Tensor)]
    for dim, item in enumerate(of_view):
        if isinstance(item, torch.Tensor):
            sizes[dim], places[dim] = 1, item.reshape(1)
        elif isinstance(item, slice) and any(map(_is_unknown, _numbers(item))):
            of_value = kept.index(dim) - len(kept)
            # One row may be for several places.
            if value.ndim < -of_value or value.shape[of_value] == 1 or item.step not in (None, 1):
                return None
            sizes[dim] = value.shape[of_value]
            places[dim] = torch.arange(sizes[dim]) + (0 if item.start is None else item.start)

    def call() -> None:
        source = value.to(tensor.dtype).expand([sizes[dim] for dim in kept])
        for dim, item in enumerate(of_view):
            if isinstance(item, torch.Tensor):
                source = source.unsqueeze(dim)
        dims = [*places]
        indices: list[torch.Tensor | None] = [None] * view.ndim
        for axis, dim in enumerate(dims):
            indices[dim] = places[dim].reshape([-1 if axis == other else 1 for other in range(len(dims))])
        # Indices that are not side by side give the first dimensions.
        if dims != [*range(dims[0], dims[0] + len(dims))]:
            source = source.permute(*dims, *(dim for dim in range(view.ndim) if dim not in places))
        torch.ops.aten.index_put_.default(view, indices, source)

    return call


def _numbers(item: Any) -> tuple[Any, ...]:
    """Returns the numbers of an item of an index."""
    return (
        tuple(one for one in (item.start, item.stop, item.step) if one is not None)
        if isinstance(item, slice)
        else (item,)
    )


def _is_number(one: Any) -> bool:
    return (isinstance(one, int | torch.SymInt) and not isinstance(one, bool)) or _is_unknown(one)


def _is_unknown(one: Any) -> bool:
    """Returns whether a number is a tensor whose value a trace does not know."""
    is_integer = isinstance(one, torch.Tensor) and one.ndim == 0 and not (one.is_floating_point() or one.is_complex())
    return is_integer and one.dtype != torch.bool and getattr(one, "constant", None) is None
