"""Patch: a trace takes `x.data`, `torch.tensor([y.sum(), y.max()])`, `x.repeat_interleave(repeats)` and some functions.

**What**: wraps `_override` of `torch._export.non_strict_utils._NonStrictTorchFunctionHandler`, which redirects calls
that cannot be traced.

**Why**: `x.data` leaves the trace, which then takes the tensor for a constant. `torch.tensor` asks the tensors in its
list for their values. The patch redirects to `detach`, `copy_` and `stack`, with the same results. A copy into another
dtype or other sizes would have other results. The size of a result of `repeat_interleave` is open, also if the trace
knows the repeats; the patch redirects to `index_select`. The functions of `copy` ask for the memory of a tensor. The
number of elements that a larger mask selects has the number of elements of the tensor as its bound. `torch.cov` and
`torch.corrcoef` compare values of tensors.

**Effect**: without the patch, the export of such models fails with `We found a fake tensor in the exported program
constant's list`, `its data is not allocated yet`, an unbounded size, or `DataDependentOutputException: aten.equal`. The
program of a larger mask is refused as wrong.

**Report**, to PyTorch: `_override` should redirect these calls, too.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._export import non_strict_utils
from torch.fx.experimental import proxy_tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from export.patches.patch import Patch

PATCH = Patch(
    "redirected_calls",
    known={"torch._export.non_strict_utils:_NonStrictTorchFunctionHandler": {"2.13": "fce53ae54f82"}},
    without="models that use `.data` of tensors, torch.tensor with a list of tensors, torch.masked_select with a mask"
    " larger than its tensor, or torch.cov cannot be exported",
)
_DATA: Any = torch.Tensor.data


def redirected() -> contextlib.AbstractContextManager[None]:
    """Redirects the calls in traces of torch.export during the block."""
    if not PATCH.is_applied():
        return contextlib.nullcontext()
    original: Any = non_strict_utils._NonStrictTorchFunctionHandler._override

    @functools.wraps(original)
    def override(self: Any, func: Any, args: Any, kwargs: Any) -> Any:
        if call := redirect(func, args, kwargs):
            return call, (), {}
        return original(self, func, args, kwargs)

    return PATCH.applied(non_strict_utils._NonStrictTorchFunctionHandler, _override=override)


def redirect(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Callable[[], Any] | None:
    """Returns a function that does the same as a call, and that a trace follows; None if the trace follows the call."""
    if func == _DATA.__get__:
        return functools.partial(torch.Tensor.detach, args[0])
    if func == _DATA.__set__:
        return functools.partial(_assign, *args)
    if func is torch.Tensor.__deepcopy__:
        return functools.partial(_copied, *args)
    if func is torch.Tensor.__reduce_ex__:  # copy.copy() gives a tensor with the same memory.
        return lambda: (torch.Tensor.detach, args[:1])
    if func in (torch.repeat_interleave, torch.Tensor.repeat_interleave):
        return _repeated(*args, **kwargs)
    if func in _ALIKE and not {"fweights", "aweights"} & kwargs.keys():
        return functools.partial(_ALIKE[func], *args, **kwargs)
    if func is not torch.tensor or not args or not isinstance(args[0], list | tuple):
        return None
    has_tensors = any(isinstance(one, torch.Tensor) for one in pytree.tree_leaves(args[0]))
    is_traced = has_tensors and kwargs.keys() <= {"dtype", "device"}
    return functools.partial(_stack, *args, **kwargs) if is_traced else None


def _assign(tensor: torch.Tensor, value: torch.Tensor) -> None:
    if tensor.dtype != value.dtype or tensor.shape != value.shape:
        kinds = (f"{one.dtype} with the sizes {tuple(one.shape)}" for one in (tensor, value))
        raise ValueError("`.data` of {} gets {}".format(*kinds))
    tensor.detach().copy_(value)
    _share_memory(value, tensor)


def _share_memory(value: torch.Tensor, tensor: torch.Tensor) -> None:
    """Makes a tensor of a trace a view of another one, with the same elements."""
    mode = proxy_tensor.get_proxy_mode()
    assert mode
    proxy_tensor.set_proxy_slot(value, mode.tracer, proxy_tensor.get_proxy_slot(tensor.detach(), mode.tracer))


def _copied(tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
    memo[id(tensor)] = copied = tensor.detach().clone()
    return copied


def _repeated(
    tensor: torch.Tensor, repeats: Any = None, dim: int | None = None, *, output_size: Any = None
) -> Callable[[], torch.Tensor] | None:
    """Returns a function that repeats the slices of a tensor; None if the trace does not know how often.

    Args:
        tensor: the tensor; the repeats, if `repeats` is None.
        repeats: how often to repeat each slice.
        dim: the dimension of the slices; None for all elements.
        output_size: the size of the result, which the repeats have, too.
    """
    given = tensor if repeats is None else repeats
    # An attribute that is no buffer is no fake tensor.
    values = given if type(given) is torch.Tensor else getattr(given, "constant", None)
    if values is None:
        return None
    with _disable_current_modes():
        counts = values.flatten().tolist()
    if repeats is None:
        return lambda: torch.tensor(_places(counts), dtype=tensor.dtype)
    if len(counts) == 1:
        return lambda: torch.repeat_interleave(tensor, counts[0], dim)
    rows = tensor.flatten() if dim is None else tensor
    return lambda: rows.index_select(dim or 0, torch.tensor(_places(counts), dtype=torch.int64))


def _places(counts: Sequence[int]) -> list[int]:
    return [place for place, count in enumerate(counts) for _ in range(count)]


def _selected(input: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    sizes = torch.broadcast_shapes(input.shape, mask.shape)
    selected: torch.Tensor = torch.ops.aten.masked_select.default(input.expand(sizes), mask)
    return selected


def _covariance(input: torch.Tensor, *, correction: int = 1) -> torch.Tensor:
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    rows = rows - rows.sum(1, keepdim=True) / rows.shape[1]
    covariance: torch.Tensor = rows @ rows.mH / torch.sym_max(rows.shape[1] - correction, 0)
    return covariance.squeeze()


def _correlation(input: torch.Tensor) -> torch.Tensor:
    covariance = _covariance(input)
    if covariance.dim() == 0:
        return covariance / covariance
    deviations = covariance.diagonal().sqrt()
    return (covariance / deviations[:, None] / deviations).clamp(-1, 1)


# Functions, each with one that does the same, and whose calls a trace follows. That of cov takes no weights.
_ALIKE: dict[Any, Callable[..., torch.Tensor]] = {
    torch.masked_select: _selected,
    torch.Tensor.masked_select: _selected,
    torch.cov: _covariance,
    torch.Tensor.cov: _covariance,
    torch.corrcoef: _correlation,
    torch.Tensor.corrcoef: _correlation,
}


def _stack(data: Any, *, dtype: torch.dtype | None = None, device: Any = None) -> torch.Tensor:
    dtype = dtype or functools.reduce(torch.promote_types, (_tensor(one).dtype for one in pytree.tree_leaves(data)))

    def stack(part: Any) -> torch.Tensor:
        is_nested = isinstance(part, list | tuple)
        return torch.stack([stack(one) for one in part]) if is_nested else _tensor(part).to(dtype)

    return stack(data).to(device)


def _tensor(one: Any) -> torch.Tensor:
    return one.detach() if isinstance(one, torch.Tensor) else torch.full((), one)
