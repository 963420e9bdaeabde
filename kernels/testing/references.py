"""The expected results of operators that PyTorch does not have, from equivalent PyTorch operators."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from kernels.testing import quantized_references


def reference(name: str) -> dict[str, Any]:
    """The arguments of OpTester for the operator `name`. Empty if PyTorch has the operator."""
    if name.startswith("quantized_decomposed::"):
        return {"schema": quantized_references.schema(name), "reference": quantized_references.reference(name)}
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
        del non_blocking  # has no effect on the result
        return aten(x, memory_format=_memory_format(x.dim(), dim_order))

    return copy


def _empty(size: Sequence[int], *, dim_order: Sequence[int] | None = None) -> torch.Tensor:
    del dim_order  # the values are undefined, only the shape is compared
    return torch.empty(size)


def _allclose(a: torch.Tensor, b: torch.Tensor, *args: Any) -> torch.Tensor:
    return torch.tensor(torch.allclose(a, b, *args[:3]))


_ALLCLOSE = (
    "(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False, bool dummy_param=False"
)
_COPY = "(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)"
_REFERENCES: dict[str, tuple[str, Callable[..., Any]]] = {
    "aten::allclose.Tensor": (f"{_ALLCLOSE}) -> Tensor", _allclose),
    "aten::allclose.out": (f"{_ALLCLOSE}, *, Tensor(a!) out) -> Tensor(a!)", _allclose),
    "dim_order_ops::_clone_dim_order.out": (_COPY, _copy_to_dim_order(torch.ops.aten.clone)),
    "dim_order_ops::_empty_dim_order.out": (
        "(int[] size, *, int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
        _empty,
    ),
    "dim_order_ops::_to_dim_order_copy.out": (_COPY, _copy_to_dim_order(torch.ops.aten._to_copy)),
    "et_copy::_d2h_copy.out": ("(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", torch.clone),
    "et_copy::_h2d_copy.out": ("(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", torch.clone),
}
