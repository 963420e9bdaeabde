"""Kernel keys: the dtypes and dim orders of a call's tensors, in the notation of ExecuTorch's runtime.

`v1/6;0,1|4;0|6;` has three tensors: Float with two dimensions, Long with one, and Float with none. The runtime makes a
call's key from all tensors among the call's values, in order. The result counts as a tensor; lists of tensors do not
count. The runtime looks for a kernel with this key, and then for a kernel without a key.

A selection has such keys, and two shorter forms: `default` for any dtype and dim order, and `v1/6;` for a dtype. The
text `v1/6;` is also the key of a call with one tensor without dimensions. A selection reads the text as a dtype, which
includes the kernels of that call.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from codegen.model import scalar_types
from diagnostics import suggest

# The key of a kernel for all dtypes and dim orders.
DEFAULT = "default"

_VERSION = "v1/"
_TENSOR = re.compile(r"(\d{1,2});((?:\d{1,2}(?:,\d{1,2})*)?)")


class TensorKind(NamedTuple):
    """A tensor in a key: the number of the dtype, and the dimensions from the outermost to the innermost."""

    dtype: int
    dim_order: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype};{','.join(map(str, self.dim_order))}"


@functools.cache
def render(tensors: tuple[TensorKind, ...]) -> str:
    """Returns the key of a call with these tensors; `default` for a call without tensors."""
    key = "|".join(map(str, tensors))
    return _VERSION + key if key else DEFAULT


@functools.cache
def parse(key: str) -> tuple[TensorKind, ...] | None:
    """Returns the tensors of a key; None if the text is no key, or `default`."""
    if not key.startswith(_VERSION):
        return None
    tensors = []
    for part in key.removeprefix(_VERSION).split("|"):
        match = _TENSOR.fullmatch(part)
        if not match or int(match[1]) not in _names():
            return None
        dim_order = tuple(map(int, match[2].split(","))) if match[2] else ()
        if sorted(dim_order) != list(range(len(dim_order))):
            return None
        tensors.append(TensorKind(int(match[1]), dim_order))
    return tuple(tensors)


def readable(key: str) -> str:
    """Returns a key as text for errors: `Float[0, 1], Long[0]`."""
    tensors = parse(key)
    if tensors is None:
        return "every dtype and dim order" if key == DEFAULT else key
    return ", ".join(f"{dtype_name(tensor.dtype)}{list(tensor.dim_order)}" for tensor in tensors)


def of_dtype(dtype: int) -> str:
    """Returns the key for a dtype in all arguments and all dim orders."""
    return _VERSION + str(TensorKind(dtype, ()))


def is_call(key: str) -> bool:
    """Returns whether a selection's key is the key of a call. `v1/6;` counts as a dtype."""
    tensors = parse(key)
    return tensors is not None and (len(tensors) > 1 or bool(tensors[0].dim_order))


def dtypes(keys: Iterable[str]) -> frozenset[int] | None:
    """Returns the numbers of the dtypes in keys; None if a key includes all dtypes, or names none."""
    found: set[int] = set()
    for key in keys:
        tensors = parse(key)
        if tensors is None:
            return None
        found.update(tensor.dtype for tensor in tensors)
    return frozenset(found) or None


def dtype_name(dtype: int) -> str:
    """Returns a dtype's name: `Float` for 6."""
    return _names()[dtype]


def dtype_names(dtypes: Iterable[int]) -> list[str]:
    """Returns the dtypes' names in the order of their numbers."""
    return [dtype_name(dtype) for dtype in sorted(dtypes)]


def is_dtype(number: int) -> bool:
    """Returns whether the runtime has a dtype with this number."""
    return number in _names()


def find_dtype(name: str) -> int | None:
    """Returns a dtype's number by its name in any case, since ExecuTorch's tools write UInt64 and Uint64; else None."""
    return {known.lower(): number for known, number in scalar_types.SCALAR_TYPES.items()}.get(name.lower())


def nearest_dtypes(name: str) -> tuple[str, ...]:
    """Returns the names of dtypes with a spelling similar to a name."""
    by_lower = {known.lower(): known for known in scalar_types.SCALAR_TYPES}
    return tuple(by_lower[near] for near in suggest.nearest(name.lower(), by_lower))


@functools.cache
def _names() -> dict[int, str]:
    return {number: name for name, number in scalar_types.SCALAR_TYPES.items()}
