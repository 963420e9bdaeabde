"""The judges of operators that PyTorch does not have: what it calculates in their place."""

from collections.abc import Callable, Sequence
from typing import Any

import torch


def reference(name: str) -> dict[str, Any]:
    """What OpTester is to know of the operator `name`: nothing, where PyTorch has the operator."""
    if name not in _REFERENCES:
        return {}
    schema, function = _REFERENCES[name]
    return {"schema": name + schema, "reference": function}


def _memory_format(rank: int, dim_order: Sequence[int] | None) -> torch.memory_format:
    if dim_order is None:
        return torch.preserve_format
    return torch.contiguous_format if list(dim_order) == list(range(rank)) else torch.channels_last


def _copy_to_dim_order(aten: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def copy(x: torch.Tensor, *, non_blocking: bool = False, dim_order: Sequence[int] | None = None) -> torch.Tensor:
        del non_blocking  # It does not change the result.
        return aten(x, memory_format=_memory_format(x.dim(), dim_order))

    return copy


def _empty(size: Sequence[int], *, dim_order: Sequence[int] | None = None) -> torch.Tensor:
    del dim_order  # The values are undefined: only the shape counts.
    return torch.empty(size)


_COPY = "(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)"
_REFERENCES: dict[str, tuple[str, Callable[..., Any]]] = {
    "dim_order_ops::_clone_dim_order.out": (_COPY, _copy_to_dim_order(torch.ops.aten.clone)),
    "dim_order_ops::_empty_dim_order.out": (
        "(int[] size, *, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
        _empty,
    ),
    "dim_order_ops::_to_dim_order_copy.out": (_COPY, _copy_to_dim_order(torch.ops.aten._to_copy)),
    "et_copy::_d2h_copy.out": ("(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", torch.clone),
    "et_copy::_h2d_copy.out": ("(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", torch.clone),
}
