"""Patch: ExecuTorch's exporter converts tensors of any dim order.

**What**: replaces `get_memory_format` of `executorch.exir.dim_order_utils`, also where another module has imported the
function.

**Why**: `_to_dim_order_copy` finds the memory format of a dim order by this function, which knows contiguous
tensors and channels-last images only. The dim order 0, 2, 3, 4, 1 of volumes is `torch.channels_last_3d`. Results of
`torch.linalg` may have their columns in a row, an order without a memory format. A conversion keeps this order:
`torch.preserve_format`.

**Effect**: without the patch, the export of a method that converts channels-last volumes, or such results, to another
dtype fails with `Failed to map a given dim_order`.

**Report**, to ExecuTorch: `get_memory_format` and `get_dim_order` should know `torch.channels_last_3d`, and
`_to_dim_order_copy` should take other orders. The runtime knows these orders.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from executorch.exir.passes import dim_order_ops_registry

from export.patches.patch import Patch

PATCH = Patch(
    "dim_orders",
    known={"executorch.exir.dim_order_utils:get_memory_format": {"1.4.1": "c6f76e7bd847", "1.5.1": "c6f76e7bd847"}},
    without="models with convolutions of three dimensions, or that convert results of torch.linalg, may not export",
    is_needed=True,
)

_FORMATS = {(0, 2, 3, 1): torch.channels_last, (0, 2, 3, 4, 1): torch.channels_last_3d}


@contextlib.contextmanager
def known() -> Iterator[None]:
    """Gives each dim order a memory format during the block, or during the calls of the decorated function."""
    with PATCH.applied(dim_order_ops_registry, get_memory_format=_memory_format):
        yield


def _memory_format(dim_order: list[int] | None) -> torch.memory_format:
    if dim_order is None:
        return torch.preserve_format
    if list(dim_order) == sorted(dim_order):
        return torch.contiguous_format
    # The input of a conversion to any other order has this order.
    return _FORMATS.get(tuple(dim_order), torch.preserve_format)
