"""Patch: ExecuTorch finds the dim order of tensors with a size that depends on values.

**What**: replaces `dim_order_from_stride` of `executorch.exir.tensor`, also where other modules have imported the
function.

**Why**: the function compares strides in one direction only. For the strides (u0, 1) of a result such as
`torch.stack([x[mask], y[mask]])`, the question whether u0 is less than 1 has no answer. That 1 is not greater than u0
is known.

**Effect**: without the patch, the export of such a model fails with `Could not guard on data-dependent expression`.

**Report**, to ExecuTorch: `dim_order_from_stride` should also try the reverse comparison.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from executorch.exir import tensor
from executorch.exir.emit import _emitter
from executorch.exir.passes import replace_view_copy_with_view_pass
from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true

from export.patches.patch import Patch

PATCH = Patch(
    "unknown_strides",
    known={"executorch.exir.tensor:dim_order_from_stride": {"1.4.1": "b46c41385710", "1.5.1": "b46c41385710"}},
    without="models whose sizes depend on values may not be exported",
)


@contextlib.contextmanager
def compared() -> Iterator[None]:
    """Compares strides in both directions during the block."""
    with contextlib.ExitStack() as patches:
        for module in (tensor, _emitter, replace_view_copy_with_view_pass):
            patches.enter_context(PATCH.applied(module, dim_order_from_stride=_dim_order))
        yield


def _dim_order(strides: Sequence[Any]) -> tuple[int, ...]:
    """Returns the dims from the largest stride to the smallest one."""
    for stride in strides:
        torch._check(stride != 0, lambda: "0 in strides is not supported for ExecuTorch.")

    def compare(one: int, other: int) -> int:
        if _is_less(strides[one], strides[other]):
            return 1
        if _is_less(strides[other], strides[one]):
            return -1
        return int(strides[one] < strides[other]) - int(strides[other] < strides[one])

    return tuple(sorted(range(len(strides)), key=functools.cmp_to_key(compare)))


def _is_less(one: Any, other: Any) -> bool:
    """Returns whether a stride is known to be less, or divides another stride that is not known to be equal."""
    if guard_or_false(one < other):
        return True
    return bool(guard_or_false(other % one == 0) and guard_or_true(one != other))
