"""The sizes that get_dynamic_shapes() asks for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from export.user.model_file import Method

# What a model file gives for a dimension: a Dim, or a hint such as Dim.AUTO(max=512).
Asked = Any


def of(method: Method) -> Sequence[Mapping[int, Asked]]:
    """Returns what is asked for the dimensions of each input, in the order of the flattened inputs.

    An input without dynamic sizes has an empty mapping, and so has an input in a form of `dynamic_shapes` that this
    function does not read: `torch.export` takes objects of classes, too.
    """
    found: dict[int, Mapping[int, Asked]] = {}
    asked = method.dynamic_shapes
    if asked is not None and method.exported is None:
        bound = _arguments(method)
        _collect(bound if isinstance(asked, Mapping) else list(bound.values()), asked, found)
    return [found.get(id(leaf), {}) for leaf in method.example.flatten()[0]]


def names(method: Method) -> Sequence[str]:
    """Returns Python expressions of the flattened inputs, such as `x` and `more['a'][1]`, in their order."""
    found = {}
    if method.exported is None:
        for name, value in _arguments(method).items():
            for path, leaf in pytree.tree_leaves_with_path(value):
                found[id(leaf)] = name + pytree.keystr(path)
    return [found.get(id(leaf), "") for leaf in method.example.flatten()[0]]


def least(asked: Asked) -> int | None:
    """Returns the smallest size that is asked for; None if nothing is said. torch.export then assumes at least 2."""
    bound = getattr(asked, "min", None)
    return bound if isinstance(bound, int) and bound > 0 else None


def most_of_hint(asked: Asked) -> int | None:
    """Returns the largest size of a hint, such as Dim.AUTO(max=512); None for other kinds of sizes."""
    is_hint = hasattr(asked, "type") and not isinstance(asked, type)
    bound = getattr(asked, "max", None)
    return bound if is_hint and isinstance(bound, int) else None


def _arguments(method: Method) -> dict[str, Any]:
    """Returns the example inputs by the names of the parameters of forward()."""
    example = method.example
    return inspect.signature(method.module.forward).bind(*example.args, **example.kwargs).arguments


def _collect(value: Any, asked: Any, found: dict[int, Mapping[int, Asked]]) -> None:
    """Adds what is asked for the tensors in a value, by the identity of the tensor."""
    if isinstance(value, torch.Tensor):
        dims = asked.items() if isinstance(asked, Mapping) else enumerate(asked if _is_list(asked) else ())
        found[id(value)] = {dim: one for dim, one in dims if one is not None}
    elif isinstance(value, Mapping) and isinstance(asked, Mapping):
        for key in value.keys() & asked.keys():
            _collect(value[key], asked[key], found)
    elif _is_list(value) and _is_list(asked):
        for one, asked_of_one in zip(value, asked, strict=False):
            _collect(one, asked_of_one, found)


def _is_list(value: Any) -> bool:
    return isinstance(value, (tuple, list))
