"""Registers the operators of this project in PyTorch: a functional variant, and the out variant that programs call.

kernels/optimized/own_custom_ops.yaml declares the operators with their schemas, and with the dim orders that they take
and give. A pass in rewrites/ implements its operators for PyTorch. The files in this folder implement the operators
that several passes share. Implementations and fake kernels give results in any dim order. This file puts a result in
the declared order.

An operator is registered when a pass first inserts a call of the operator. Until then, another library may register the
same operators in PyTorch, such as an operator library for ahead-of-time use.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import torch

from export.graph_passes import graphs
from export.graph_passes.call import Call, T
from export.user.dense_tensors import channels_last_order

NAMESPACE = "rules_executorch"
# The folders of the functions that implement operators.
_FOLDERS = ("export/graph_passes/operators", "export/graph_passes/rewrites")

# PyTorch unregisters the operators when this object is deleted.
_library = torch.library.Library(NAMESPACE, "FRAGMENT")


class OwnCall(Call[T]):
    """A call of an operator of this project. The result is a tensor, or a tuple of tensors if there are several.

    Attributes:
        SCHEMA: the schema of the functional variant, without the namespace.
        OUT_SCHEMA: the schema of the out variant, without the namespace.
        RESULTS: the names of the results, which are the out arguments of the out variant.
        DIM_ORDERS: the order of each tensor's memory, by the names of the fields and the results: `contiguous`,
            `channels_last`, `any`, or `like` and the name of a field.
    """

    SCHEMA: ClassVar[str]
    OUT_SCHEMA: ClassVar[str]
    RESULTS: ClassVar[tuple[str, ...]]
    DIM_ORDERS: ClassVar[Mapping[str, str]]

    @classmethod
    def _member(cls, operators: Any) -> Any:
        if cls.OPERATOR not in _registered:
            _register(cls)
        return super()._member(operators)


C = TypeVar("C", bound=OwnCall[torch.Tensor])
_Results = torch.Tensor | tuple[torch.Tensor, ...]
# Computes an operator's results for a call.
_Function = Callable[[C], _Results]

_registered: set[str] = set()
_implementations: dict[type[OwnCall[Any]], Callable[[Any], _Results]] = {}
_fakes: dict[type[OwnCall[Any]], Callable[[Any], _Results]] = {}


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

    def call(*args: Any, **kwargs: Any) -> _Results:
        view = operator.bind(args, kwargs)
        results = [
            (result, _ordered(view, name, result))
            for name, result in zip(operator.RESULTS, _listed(function(view)), strict=True)
        ]
        return _given([result if ordered is result else ordered.copy_(result) for result, ordered in results])

    def call_out(*args: Any, **kwargs: Any) -> _Results:
        outs = [kwargs.pop(name) for name in operator.RESULTS]
        results = _listed(function(operator.bind(args, kwargs)))
        return _given([out.copy_(result) for out, result in zip(outs, results, strict=True)])

    def call_fake(*args: Any, **kwargs: Any) -> _Results:
        view = operator.bind(args, kwargs)
        results = zip(operator.RESULTS, _listed(fake(view)), strict=True)
        return _given([_ordered(view, name, result) for name, result in results])

    for schema, implementation in ((operator.SCHEMA, call), (operator.OUT_SCHEMA, call_out)):
        _library.define(schema)
        _library.impl(schema.partition("(")[0], implementation, "CompositeExplicitAutograd")
    torch.library.register_fake(operator.OPERATOR, call_fake, lib=_library)
    _registered.add(operator.OPERATOR)


def _listed(results: _Results) -> Sequence[torch.Tensor]:
    return (results,) if isinstance(results, torch.Tensor) else results


def _given(results: Sequence[torch.Tensor]) -> _Results:
    """Returns results as an operator does: a tensor, or a tuple of several."""
    return results[0] if len(results) == 1 else tuple(results)


def dim_orders(operator: torch._ops.OpOverload) -> Mapping[str, str]:
    """Returns the declared dim orders of an operator, by the names of arguments and results; empty if not ours.

    Args:
        operator: the functional variant or the out variant.
    """
    name = operator.name().removesuffix(".out")
    own: Any = calls_of_own().get(name) if operator.namespace == NAMESPACE else None
    if own is None:
        return {}
    names = {one.name: one.metadata.get("name", one.name) for one in dataclasses.fields(own)}
    return {names.get(field, field): order for field, order in own.DIM_ORDERS.items()}


@functools.cache
def calls_of_own() -> Mapping[str, type[OwnCall[Any]]]:
    """Returns the typed views of the operators of this project, by the operators' names."""
    from export.graph_passes import calls  # That module imports this one.

    return {name: view for name, view in calls.VIEWS.items() if issubclass(view, OwnCall)}


def _ordered(call: OwnCall[torch.Tensor], name: str, result: torch.Tensor) -> torch.Tensor:
    """Returns a tensor of a result's sizes in the declared dim order; the result itself if it has these strides.

    A result that is contiguous in the declared order, too, such as an image of one channel, has contiguous strides.
    Otherwise, PyTorch would take an image of one channel for channels-last.
    """
    ordered = graphs.like(result, result.shape, graphs.strides(result.shape, _order_of_result(call, name, result)))
    if graphs.is_contiguous(ordered):
        ordered = graphs.like(result, result.shape, graphs.strides(result.shape, range(result.dim())))
    return result if graphs.same_layouts(result, ordered) else ordered


def _order_of_result(call: OwnCall[torch.Tensor], name: str, result: torch.Tensor) -> Sequence[int]:
    """Returns the declared dim order of a call's result."""
    declared = call.DIM_ORDERS[name]
    if declared == "contiguous":
        return range(result.dim())
    if declared == "channels_last":
        return channels_last_order(result.dim())
    return graphs.dim_order(result if declared == "any" else getattr(call, declared.removeprefix("like ")))


@functools.cache
def _import_all() -> None:
    for folder in _FOLDERS:
        package = importlib.import_module(folder.replace("/", "."))
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
