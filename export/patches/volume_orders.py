"""Patch: ExecuTorch's exporter knows the channels-last order of volumes.

**What**: replaces `get_memory_format` of `executorch.exir.dim_order_utils`, also where another module has imported the
function.

**Why**: `_to_dim_order_copy` finds the memory format of a dim order by this function, which knows images only. The dim
order 0, 2, 3, 4, 1 of volumes, tensors of 5 dimensions, is `torch.channels_last_3d`.

**Effect**: without the patch, the export of a method with channels-last volumes fails with `Failed to map a given
dim_order`.

**Report**, to ExecuTorch: `get_memory_format` and `get_dim_order` should know `torch.channels_last_3d`. The runtime
knows this order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from executorch.exir import dim_order_utils
from executorch.exir.passes import dim_order_ops_registry

from export.patches.patch import Patch

PATCH = Patch(
    "volume_orders",
    known={"executorch.exir.dim_order_utils:get_memory_format": {"1.4.1": "c6f76e7bd847", "1.5.1": "c6f76e7bd847"}},
    without="models with convolutions of three dimensions may not be exported",
    is_needed=True,
)

_of_images = dim_order_utils.get_memory_format


@contextlib.contextmanager
def known() -> Iterator[None]:
    """Gives the channels-last order of volumes a memory format during the block."""
    with PATCH.applied(dim_order_ops_registry, get_memory_format=_memory_format):
        yield


def _memory_format(dim_order: list[int] | None) -> torch.memory_format:
    if dim_order is not None and list(dim_order) == [0, 2, 3, 4, 1]:
        return torch.channels_last_3d
    result: torch.memory_format = _of_images(dim_order)
    return result
