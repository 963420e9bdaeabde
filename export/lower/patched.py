"""The patches under which methods are traced and lowered."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from export.lower import repeated_work
from export.patches import (
    bounded_unique,
    buffer_assignments,
    causal_masks,
    condition_places,
    converting_copies,
    dense_attention,
    dim_orders,
    gradient_regions,
    known_values,
    open_sizes,
    redirected_calls,
    scalar_dtypes,
    scalar_indices,
    spaced_defaults,
    unknown_strides,
)


@contextlib.contextmanager
def lowering() -> Iterator[None]:
    """Patches PyTorch and ExecuTorch during the block."""
    with (
        repeated_work.avoided(),
        spaced_defaults.parsed(),
        unknown_strides.compared(),
        bounded_unique.bounded(),
        buffer_assignments.copied(),
        causal_masks.unasked(),
        condition_places.noted(),
        converting_copies.kept(),
        dense_attention.traced(),
        dim_orders.known(),
        gradient_regions.dissolved(),
        known_values.noted(),
        open_sizes.kept(),
        redirected_calls.redirected(),
        scalar_dtypes.kept(),
        scalar_indices.written(),
    ):
        yield
