"""Patch: a trace knows the sizes of the unique items of a tensor whose sizes may vary, and along a last dimension.

**What**: wraps `_unique` of `torch._subclasses.fake_impls`, which computes the sizes of the results of `unique` and
`unique_consecutive`.

**Why**: the results have at most as many items as the input. PyTorch bounds their number if the sizes of the input are
fixed. For other inputs, the bound is the largest int, for which no memory can be planned. A negative `dim` gives the
results the dimensions after `dim + 1`, which are all of them for the last dimension.

**Effect**: without the patch, the export of such a model fails with `mem_offset does not fit in 64 bits`, or the export
refuses the program as wrong.

**Report**, to PyTorch: `_unique` should bound the number of items as the same file does for `nonzero`, and should wrap
`dim`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses import fake_impls
from torch.fx.experimental.symbolic_shapes import _constrain_range_for_size
from torch.utils._sympy.numbers import IntInfinity
from torch.utils._sympy.value_ranges import bound_sympy

from export.patches.patch import Patch

PATCH = Patch(
    "bounded_unique",
    known={"torch._subclasses.fake_impls:_unique": {"2.13": "3b1a8e14c961"}},
    without="models that call unique on tensors of varying sizes, or with a negative dim, cannot be exported",
)


def bounded() -> contextlib.AbstractContextManager[None]:
    """Bounds the number of unique items by the number of all items during the block."""
    return PATCH.wrapped(fake_impls, "_unique", _unique)


def _unique(
    original: Callable[..., Any], mode: Any, operator: Any, x: Any, dim: int | None, *args: Any, **kwargs: Any
) -> Any:
    dim = dim if dim is None else range(x.dim())[dim]
    results = original(mode, operator, x, dim, *args, **kwargs)
    count, items = results[0].shape[dim or 0], x.numel() if dim is None else x.shape[dim]
    if isinstance(count, torch.SymInt) and isinstance(items, torch.SymInt):
        most = bound_sympy(items.node.expr, items.node.shape_env.var_to_range).upper
        if not isinstance(most, IntInfinity):
            _constrain_range_for_size(count, max=int(most))
    return results
