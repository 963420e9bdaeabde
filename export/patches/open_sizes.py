"""Patch: a trace leaves sizes open that functions of PyTorch take as numbers, as `torch.linspace(0, 1, x.shape[0])`.

A slice such as `x[mask][:3]` of a tensor whose size depends on values has a size of its own, which the patch computes.

**What**: wraps `_override` of `torch._export.non_strict_utils._NonStrictTorchFunctionHandler`, which redirects calls
that cannot be traced.

**Why**: an operator whose schema has `int` in place of `SymInt` fixes a size to that of the example inputs. The patch
redirects to functions with the same results. A pool of all rows is their maximum or mean. torch.export gives a slice of
a tensor whose size depends on values a size without relation to that of the tensor, and `slice_copy` compares the two.

**Effect**: without the patch, such models have fixed sizes, and the export warns of narrowed sizes. Slices of tensors
whose sizes depend on values fail in ExecuTorch's lowering.

**Report**, to PyTorch: the schemas of these operators should have `SymInt`. The size of a slice should be a minimum.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._export import non_strict_utils
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.nn import functional
from torch.utils import _pytree as pytree

from export.patches.patch import Patch

PATCH = Patch(
    "open_sizes",
    known={"torch._export.non_strict_utils:_NonStrictTorchFunctionHandler": {"2.13": "fce53ae54f82"}},
    without="sizes of models that call torch.linspace, max_pool1d and one_hot with varying sizes are fixed, and"
    " ExecuTorch does not lower x[mask][:3]",
)


def kept() -> contextlib.AbstractContextManager[None]:
    """Redirects calls with open sizes, in traces of torch.export during the block."""
    return PATCH.wrapped(non_strict_utils._NonStrictTorchFunctionHandler, "_override", _override)


def _override(original: Callable[..., Any], handler: Any, func: Any, args: Any, kwargs: Any) -> Any:
    if func is torch.Tensor.__getitem__ and (slices := _late_slices(*args)):
        return functools.partial(_narrowed, slices), args, kwargs
    with_sizes = _WITH_SIZES.get(func)
    if with_sizes and any(map(_is_open, pytree.tree_leaves((args, kwargs)))):
        return functools.partial(with_sizes, func), args, kwargs
    return original(handler, func, args, kwargs)


def _is_open(one: Any) -> bool:
    sizes = one.shape if isinstance(one, Tensor) else (one,)
    return any(isinstance(size, torch.SymInt) for size in sizes)


def _late_slices(x: Tensor, key: Any) -> dict[int, int]:
    """Returns the slices of dimensions whose sizes depend on values: the dimension for each place in a tuple of keys.

    Empty if the keys have tensors, or a slice of such a dimension has another step than 1.
    """
    keys = key if isinstance(key, tuple) else (key,)
    if not all(one is None or one is ... or isinstance(one, slice) or type(one) is int for one in keys):
        return {}
    dims, dim = {}, 0
    for place, one in enumerate(keys):
        if one is ...:
            dim = x.dim() - sum(later is not None for later in keys[place + 1 :])
        elif one is not None:
            if isinstance(one, slice) and one != slice(None) and free_unbacked_symbols(x.shape[dim]):
                dims[place] = dim
            dim += 1
    late = [keys[place] for place in dims]
    # A step that is a size is no int, and has no hash.
    are_numbers = all(isinstance(number, int | None) for one in late for number in (one.start, one.stop, one.step))
    return dims if are_numbers and all(one.step in (None, 1) for one in late) else {}


def _narrowed(slices: Mapping[int, int], x: Tensor, key: Any) -> Tensor:
    keys = [*key] if isinstance(key, tuple) else [key]
    for place, dim in slices.items():
        size = x.shape[dim]
        start, end = (_position(one, size) for one in (keys[place].start or 0, keys[place].stop))
        if isinstance(start, int):
            x = x.narrow(dim, 0, end)
        else:  # ExecuTorch compares a start with the size, too. So these are copies, not views.
            x = x.index_select(dim, torch.arange(torch.sym_max(end - start, 0), device=x.device) + start)
        keys[place] = slice(None)
    return x[tuple(keys)]


def _position(end: int | None, size: int | torch.SymInt) -> Any:
    """Returns where an end of a slice is among the elements of a dimension."""
    if end == 0:
        return 0
    if end is None:
        return size
    return torch.sym_min(end, size) if end > 0 else torch.sym_max(size + end, 0)


def _linspace(
    _: Any,
    start: Any,
    end: Any,
    steps: Any,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    dtype = dtype or torch.get_default_dtype()
    index = torch.arange(steps, device=device)
    last = torch.sym_max(steps - 1, 1)
    step = (end - start) / last
    is_first = index < torch.sym_max(steps // 2, 1)
    # PyTorch computes whole numbers from floats of 64 bits.
    index, rest = (one.to(dtype if dtype.is_floating_point else torch.float64) for one in (index, last - index))
    return torch.where(is_first, start + index * step, end - rest * step).to(dtype)


def _logspace(_: Any, start: Any, end: Any, steps: Any, base: float = 10.0, **options: Any) -> Tensor:
    dtype = options.pop("dtype", None) or torch.get_default_dtype()
    exponents = _linspace(_, start, end, steps, dtype=dtype if dtype.is_floating_point else torch.float64, **options)
    return torch.pow(base, exponents).to(dtype)


def _one_hot(_: Any, tensor: Tensor, num_classes: Any = -1) -> Tensor:
    if isinstance(num_classes, int):  # The number may be -1, for one that depends on values.
        return functional.one_hot(tensor, num_classes)
    return (tensor.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


def _max_pool1d(_: Any, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    given = _arguments(args, kwargs, "kernel_size", "stride", "padding", "dilation", "ceil_mode")
    if _is_whole(x, 1, given):
        return x.amax(-1, keepdim=True)
    plane: dict[str, Any] = {
        name: (none, *_numbers(given[name], 1)) for name, none in _PLANE.items() if given.get(name) is not None
    }
    pooled: Tensor = functional.max_pool2d(x.unsqueeze(-2), **plane, ceil_mode=given.get("ceil_mode", False))
    return pooled.squeeze(-2)


def _max_pool2d(function: Any, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    given = _arguments(args, kwargs, "kernel_size", "stride", "padding", "dilation")
    return x.amax((-2, -1), keepdim=True) if _is_whole(x, 2, given) else function(x, *args, **kwargs)


def _avg_pool(dims: int, function: Any, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    given = _arguments(
        args, kwargs, "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"
    )
    is_whole = _is_whole(x, dims, given) and given.get("divisor_override") is None
    return x.mean([*range(-dims, 0)], keepdim=True) if is_whole else function(x, *args, **kwargs)


# The arguments of a pool of rows, with what a pool of planes takes for the other dimension.
_PLANE = {"kernel_size": 1, "stride": 1, "padding": 0, "dilation": 1}


def _arguments(args: Sequence[Any], kwargs: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return dict(zip(names, args, strict=False)) | dict(kwargs)


def _numbers(value: Any, count: int) -> Sequence[Any]:
    """Returns an argument for each of the last dimensions."""
    values = [*value] if isinstance(value, tuple | list) else [value]
    return values * count if len(values) == 1 else values


def _is_whole(x: Tensor, dims: int, given: Mapping[str, Any]) -> bool:
    """Returns whether a pool has one window with all elements of the last dimensions."""
    sizes = _numbers(given["kernel_size"], dims)
    is_plain = not any(_numbers(given.get("padding", 0), 1)) and {*_numbers(given.get("dilation", 1), 1)} == {1}
    return is_plain and [*map(_expression, sizes)] == [*map(_expression, x.shape[-dims:])]


def _expression(size: Any) -> Any:
    return size.node.expr if isinstance(size, torch.SymInt) else size


_WITH_SIZES: Mapping[Any, Callable[..., Tensor]] = {
    torch.linspace: _linspace,
    torch.logspace: _logspace,
    functional.one_hot: _one_hot,
    functional.max_pool1d: _max_pool1d,
    torch.max_pool1d: _max_pool1d,
    functional.max_pool2d: _max_pool2d,
    functional.avg_pool1d: functools.partial(_avg_pool, 1),
    functional.avg_pool2d: functools.partial(_avg_pool, 2),
}
