"""The arguments of calls, and the checks of the arguments that a function of the user returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from diagnostics.errors import Location
from export.user.dense_tensors import dense
from export.user.source import Source, describe


@dataclass(frozen=True)
class Inputs:
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def flatten(self) -> tuple[list[Any], pytree.TreeSpec]:
        return pytree.tree_flatten((self.args, dict(self.kwargs)))

    def with_tensors(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Inputs:
        """Returns the arguments with the tensors that `change` returns for the present ones."""
        return Inputs(*pytree.tree_map_only(torch.Tensor, change, (self.args, dict(self.kwargs))))

    def separate(self) -> Inputs:
        """Returns the arguments with a dense copy of each tensor, as inputs of a program are."""
        return self.with_tensors(lambda tensor: dense(tensor.detach().clone()))

    def shown(self) -> str:
        """Describes the arguments in a few words, in the form of a call."""
        arguments = [describe(value) for value in self.args]
        return f"({', '.join([*arguments, *(f'{key}={describe(value)}' for key, value in self.kwargs.items())])})"


def read(source: Source, at: Location, what: str, value: Any) -> Inputs:
    """Returns the arguments that a function returned: a tuple, or a dict of keyword arguments.

    Raises:
        InputError: the function returned something else.
    """
    if isinstance(value, tuple):
        return Inputs(value)
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return Inputs((), value)
    hint = " (a tuple of one is written `(x,)`)" if isinstance(value, torch.Tensor) else ""
    raise source.nonsense(at, what, value, f"a tuple of arguments{hint}, or a dict of keyword arguments")


def read_all(
    source: Source, at: Location, what: str, value: Any, example: Inputs, *, fixed: bool
) -> tuple[Inputs, ...]:
    """Returns a list of inputs that a function returned, one element for each run of a method.

    Args:
        source: the model file.
        at: the location of the function.
        what: the name of the list, for error messages.
        value: the list.
        example: the inputs whose structure and dtypes each run must have.
        fixed: whether shapes and numbers must also be those of the example.
    Raises:
        InputError: the function returned something else.
    """
    if not (isinstance(value, list) and value):
        raise source.nonsense(at, what, value, "a list of inputs, one for each run")
    return tuple(_like(source, at, f"{what}[{i}]", run, example, fixed=fixed) for i, run in enumerate(value))


def _like(source: Source, at: Location, what: str, value: Any, example: Inputs, *, fixed: bool) -> Inputs:
    inputs = read(source, at, what, value)
    if inputs.kwargs.keys() == example.kwargs.keys():
        inputs = Inputs(inputs.args, {key: inputs.kwargs[key] for key in example.kwargs})
    leaves, spec = inputs.flatten()
    example_leaves, example_spec = example.flatten()
    if spec != example_spec:
        expected = f"inputs like the example's, {describe(example.args or dict(example.kwargs))}"
        raise source.nonsense(at, what, value, expected)
    for index, (leaf, like) in enumerate(zip(leaves, example_leaves, strict=True)):
        alike = type(leaf) is type(like) or (isinstance(leaf, torch.Tensor) and isinstance(like, torch.Tensor))
        if alike and isinstance(leaf, torch.Tensor):
            alike = leaf.dtype == like.dtype and leaf.dim() == like.dim() and (not fixed or leaf.shape == like.shape)
        elif alike and fixed:
            alike = leaf == like or repr(leaf) == repr(like)  # NaN is not equal to itself.
        if not alike:
            hint = "; other sizes need get_dynamic_shapes()" if fixed else ""
            raise source.nonsense(at, f"{what}, input {index},", leaf, f"as in the example {describe(like)}{hint}")
    return inputs
