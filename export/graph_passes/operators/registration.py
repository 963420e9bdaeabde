"""Registers the operators of this project in PyTorch: a functional variant, and the out variant that programs call.

kernels/optimized/own_custom_ops.yaml declares the operators with their schemas. A pass in rewrites/ implements its
operators for PyTorch. The files in this folder implement the operators that several passes share.

An operator is registered when a pass first inserts a call of the operator. Until then, another library may register the
same operators in PyTorch, such as an operator library for ahead-of-time use.
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
# The folders of the functions that implement operators.
_FOLDERS = ("export/graph_passes/operators", "export/graph_passes/rewrites")

# PyTorch unregisters the operators when this object is deleted.
_library = torch.library.Library(NAMESPACE, "FRAGMENT")


class OwnCall(Call[T]):
    """A call of an operator of this project. The result is one tensor.

    Attributes:
        SCHEMA: the schema of the functional variant, without the namespace.
        OUT_SCHEMA: the schema of the out variant, without the namespace.
    """

    SCHEMA: ClassVar[str]
    OUT_SCHEMA: ClassVar[str]

    @classmethod
    def _member(cls, operators: Any) -> Any:
        if cls.OPERATOR not in _registered:
            _register(cls)
        return super()._member(operators)


C = TypeVar("C", bound=OwnCall[torch.Tensor])
# Computes an operator's result for a call.
_Function = Callable[[C], torch.Tensor]

_registered: set[str] = set()
_implementations: dict[type[OwnCall[Any]], Callable[[Any], torch.Tensor]] = {}
_fakes: dict[type[OwnCall[Any]], Callable[[Any], torch.Tensor]] = {}


def implements(operator: type[C]) -> Callable[[_Function[C]], _Function[C]]:
    """Declares a function as the implementation of an operator."""

    def decorate(function: _Function[C]) -> _Function[C]:
        _implementations[operator] = function
        return function

    return decorate


def fakes(operator: type[C]) -> Callable[[_Function[C]], _Function[C]]:
    """Declares a function as the fake kernel of an operator.

    An operator needs no fake kernel if its implementation runs on fake tensors without guards on sizes.
    """

    def decorate(function: _Function[C]) -> _Function[C]:
        _fakes[operator] = function
        return function

    return decorate


def _register(operator: type[OwnCall[Any]]) -> None:
    """Registers an operator.

    Raises:
        LookupError: no function implements the operator.
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
