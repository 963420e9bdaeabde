"""Kernel keys: the dtypes and dim orders of a call's tensors, in the rendering of ExecuTorch's runtime.

`v1/6;0,1|4;0|6;` stands for three tensors: Float with two dimensions, Long with one, and Float with none. The runtime
makes a call's key of every tensor among its values, in order; what the call returns is one of them, lists of tensors
are not. It then looks for a kernel with this key, and for one without a key if there is none.

A selection holds such keys, and two shorter forms: `default` for any dtype and dim order, `v1/6;` for a dtype alone.
That is also the key of a call with one tensor without dimensions; read as a dtype, it takes that call's kernels too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from codegen.model import scalar_types
from diagnostics import suggest

# The key of a kernel for every dtype and dim order.
DEFAULT = "default"

_VERSION = "v1/"
_TENSOR = re.compile(r"(\d{1,2});((?:\d{1,2}(?:,\d{1,2})*)?)")


class TensorKind(NamedTuple):
    """What a key says of a tensor: its dtype's number, and its dimensions from the outermost to the innermost."""

    dtype: int
    dim_order: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype};{','.join(map(str, self.dim_order))}"


@functools.cache
def render(tensors: tuple[TensorKind, ...]) -> str:
    """The key of a call with these tensors; a call without any can only reach the default kernel."""
    key = "|".join(map(str, tensors))
    return _VERSION + key if key else DEFAULT


@functools.cache
def parse(key: str) -> tuple[TensorKind, ...] | None:
    """The tensors of a key other than the default one; None if the text is no key."""
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
    """A key as an error says it: `Float[0, 1], Long[0]`."""
    tensors = parse(key)
    if tensors is None:
        return "every dtype and dim order" if key == DEFAULT else key
    return ", ".join(f"{dtype_name(tensor.dtype)}{list(tensor.dim_order)}" for tensor in tensors)


def of_dtype(dtype: int) -> str:
    """The key that stands for a dtype in every argument and every dim order."""
    return _VERSION + str(TensorKind(dtype, ()))


def is_call(key: str) -> bool:
    """Whether a selection's key is that of a call only; `v1/6;` is a dtype, or a call with one 0-dim tensor."""
    tensors = parse(key)
    return tensors is not None and (len(tensors) > 1 or bool(tensors[0].dim_order))


def dtypes(keys: Iterable[str]) -> frozenset[int] | None:
    """The numbers of the dtypes that keys name; None if they take every dtype, or tell of none."""
    found: set[int] = set()
    for key in keys:
        tensors = parse(key)
        if tensors is None:
            return None
        found.update(tensor.dtype for tensor in tensors)
    return frozenset(found) or None


def dtype_name(dtype: int) -> str:
    """A dtype's name: `Float` for 6."""
    return _names()[dtype]


def is_dtype(number: int) -> bool:
    """Whether the runtime has a dtype with this number."""
    return number in _names()


def find_dtype(name: str) -> int | None:
    """A dtype's number by its name, in whatever case: ExecuTorch's own tools write UInt64 and Uint64."""
    return {known.lower(): number for known, number in scalar_types.SCALAR_TYPES.items()}.get(name.lower())


def nearest_dtypes(name: str) -> tuple[str, ...]:
    """The names of dtypes that are spelled like a name."""
    by_lower = {known.lower(): known for known in scalar_types.SCALAR_TYPES}
    return tuple(by_lower[near] for near in suggest.nearest(name.lower(), by_lower))


@functools.cache
def _names() -> dict[int, str]:
    return {number: name for name, number in scalar_types.SCALAR_TYPES.items()}
