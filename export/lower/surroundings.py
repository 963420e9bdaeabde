"""What surrounds the traces and the lowering of an export: the patches, and PyTorch without gradients."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from export.lower import repeated_work
from export.patches import (
    bounded_unique,
    buffer_assignments,
    converting_copies,
    dim_orders,
    known_buffers,
    scalar_indices,
    spaced_defaults,
    unknown_strides,
)


@contextlib.contextmanager
def entered() -> Iterator[None]:
    """Patches PyTorch and ExecuTorch, and records no gradients, during the block."""
    with (
        torch.no_grad(),  # PyTorch refuses to record the gradients of copies of complex parameters.
        repeated_work.avoided(),
        spaced_defaults.parsed(),
        unknown_strides.compared(),
        bounded_unique.bounded(),
        buffer_assignments.copied(),
        converting_copies.kept(),
        dim_orders.known(),
        known_buffers.noted(),
        scalar_indices.written(),
    ):
        yield
