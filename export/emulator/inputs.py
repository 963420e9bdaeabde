"""Draws further inputs for a method from the elements of its samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from export.user.inputs import Inputs
from export.user.model_file import Method


def drawn(method: Method, seed: int, count: int) -> Iterator[Inputs]:
    """Yields inputs of the shapes, dtypes and bounds of the samples, always the same ones.

    The first ones are those of the last sample, so that state matters also if the method has one sample only. In the
    others, the elements of each tensor are in another order. So integers stay in their range, and different positions
    stay different.

    Args:
        method: the method.
        seed: the seed of the orders.
        count: how many inputs with other orders follow.
    """
    yield method.samples[-1]
    generator = torch.Generator().manual_seed(seed)
    for number in range(count):
        given = method.samples[number % len(method.samples)]
        leaves, spec = given.flatten()
        yield Inputs(*pytree.tree_unflatten([_mixed(leaf, generator) for leaf in leaves], spec))


def _mixed(leaf: Any, generator: torch.Generator) -> Any:
    if not isinstance(leaf, torch.Tensor) or leaf.numel() < 2:
        return leaf
    flat = leaf.detach().flatten()[torch.randperm(leaf.numel(), generator=generator)]
    result = torch.empty_like(leaf)
    return result.copy_(flat.view(leaf.shape))
