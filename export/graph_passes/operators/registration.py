"""Registers operators of ours in PyTorch: each as a function and with an out argument, as programs call it.

kernels/optimized/own_custom_ops.yaml declares the operators, and has their schemas. The file of a pass computes the
operators that the pass inserts (rewrites/), for PyTorch; files beside this one compute those that several passes share.
An operator is registered when a graph first gets a call of it: a library that registers the same operators in PyTorch,
as one for ahead-of-time use does, may be loaded with the passes.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import torch

from export.graph_passes.call import Call, T

NAMESPACE = "rules_executorch"
# Where the functions are that compute operators.
_FOLDERS = ("export/graph_passes/operators", "export/graph_passes/rewrites")

# Operators last as long as the library that defines them.
_library = torch.library.Library(NAMESPACE, "FRAGMENT")


class OwnCall(Call[T]):
    """A call of an operator of ours, which gives one tensor.

    Attributes:
        SCHEMA: the operator's schema, without the namespace.
        OUT_SCHEMA: that of its out variant.
    """

    SCHEMA: ClassVar[str]
    OUT_SCHEMA: ClassVar[str]

    @classmethod
    def _member(cls, operators: Any) -> Any:
        if cls.OPERATOR not in _registered:
            _register(cls)
        return super()._member(operators)


C = TypeVar("C", bound=OwnCall[torch.Tensor])
# Computes what an operator gives for a call.
_Function = Callable[[C], torch.Tensor]

_registered: set[str] = set()
_implementations: dict[type[OwnCall[Any]], Callable[[Any], torch.Tensor]] = {}
_fakes: dict[type[OwnCall[Any]], Callable[[Any], torch.Tensor]] = {}


def implements(operator: type[C]) -> Callable[[_Function[C]], _Function[C]]:
    """Says that a function calculates an operator."""

    def decorate(function: _Function[C]) -> _Function[C]:
        _implementations[operator] = function
        return function

    return decorate


def fakes(operator: type[C]) -> Callable[[_Function[C]], _Function[C]]:
    """Says that a function gives a tensor like an operator's result, without its elements.

    An operator has none whose own function gives that of tensors without elements, and fixes no size in it.
    """

    def decorate(function: _Function[C]) -> _Function[C]:
        _fakes[operator] = function
        return function

    return decorate


def _register(operator: type[OwnCall[Any]]) -> None:
    """Registers an operator, by its class.

    Raises:
        LookupError: no function computes it.
    """
    _import_all()
    if operator not in _implementations:
        raise LookupError(f"no function in {' or '.join(_FOLDERS)} implements {operator.OPERATOR}")
    function = _implementations[operator]
    fake = _fakes.get(operator, function)

    def call(*args: Any, **kwargs: Any) -> torch.Tensor:
        return function(operator.bind(args, kwargs))

    def call_out(*args: Any, out: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        return out.copy_(function(operator.bind(args, kwargs)))

    def call_fake(*args: Any, **kwargs: Any) -> torch.Tensor:
        return fake(operator.bind(args, kwargs))

    for schema, implementation in ((operator.SCHEMA, call), (operator.OUT_SCHEMA, call_out)):
        _library.define(schema)
        _library.impl(schema.partition("(")[0], implementation, "CompositeExplicitAutograd")
    torch.library.register_fake(operator.OPERATOR, call_fake, lib=_library)
    _registered.add(operator.OPERATOR)


@functools.cache
def _import_all() -> None:
    for folder in _FOLDERS:
        package = importlib.import_module(folder.replace("/", "."))
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
