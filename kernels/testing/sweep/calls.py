"""Calls of operators, recorded during the execution of PyTorch."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernels.testing import inputs
from kernels.testing.description import describe_call
from kernels.testing.eager import EagerOperator, flatten


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of an operator's out variant.

    Attributes:
      operator: the registered name with its namespace: "aten::add.out".
      args: the positional arguments.
      kwargs: the keyword arguments, without the out arguments.
      out_dtype: dtype of the out tensors; None: the dtype of PyTorch's result.
      out_sizes: sizes of the out tensors; None: the sizes of the result, or larger.
      out_dim_order: dim order of the out tensors; None: contiguous.
      static: whether the out tensors cannot be resized.
      aliased: whether an input shares the memory of an out tensor.
    """

    operator: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    out_dtype: torch.dtype | None = None
    out_sizes: tuple[int, ...] | None = None
    out_dim_order: tuple[int, ...] | None = None
    static: bool = False
    aliased: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The options of the call for the results."""
        return {} if self.out_dtype is None else {"out_dtype": self.out_dtype}

    @property
    def tensors(self) -> list[torch.Tensor]:
        values = flatten([*self.args, *self.kwargs.values()])
        return [value for value in values if isinstance(value, torch.Tensor)]

    @property
    def dtype(self) -> torch.dtype:
        """The dtype for which the call is counted: the dtype of the first tensor, otherwise of the result.

        For `where`, the dtype of the second tensor, because the first one is the condition.
        """
        tensors = self.tensors[1:] if self.operator == "aten::where.self_out" else self.tensors
        return next((tensor.dtype for tensor in tensors), self.out_dtype or torch.float32)

    def with_tensors(self, change: Callable[[torch.Tensor], torch.Tensor]) -> "Call":
        """The call with `change` applied to all tensors."""

        def changed(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                return change(value)
            return [changed(item) for item in value] if isinstance(value, (list, tuple)) else value

        args = tuple(changed(value) for value in self.args)
        return dataclasses.replace(self, args=args, kwargs={key: changed(v) for key, v in self.kwargs.items()})

    def __str__(self) -> str:
        outs = {
            "out_dtype": self.out_dtype,
            "out_sizes": self.out_sizes,
            "out_dim_order": self.out_dim_order,
            "static": self.static or None,
            "aliased": self.aliased or None,
        }
        given = {key: value for key, value in outs.items() if value is not None}
        return describe_call(self.operator, self.args, {**self.kwargs, **given})


# Operators whose functions in PyTorch have other names than their packets.
_OTHER_NAMES = {
    "aten::index_put_": "index_put",
    "aten::_native_batch_norm_legit.no_stats_out": "native_batch_norm",
    "aten::_native_batch_norm_legit.out": "native_batch_norm",
    "aten::_native_batch_norm_legit_no_training.out": "native_batch_norm",
    "aten::upsample_bilinear2d.vec_out": "upsample_bilinear2d",
    "aten::upsample_nearest2d.vec_out": "upsample_nearest2d",
    "aten::var.out": "var.correction",
    "dim_order_ops::_clone_dim_order.out": "clone",
    "dim_order_ops::_empty_dim_order.out": "empty.memory_format",
    "dim_order_ops::_to_dim_order_copy.out": "_to_copy",
    "et_copy::_d2h_copy.out": "clone",
    "et_copy::_h2d_copy.out": "clone",
}


class Overloads:
    """Maps overloads of PyTorch's operators to the equivalent out variants of a kernel library.

    The out variant `foo.out` is equivalent to `foo`, `foo_`, the view `foo` of `foo_copy`, and to overloads of `foo`
    with tensors in place of numbers or numbers in place of tensors.

    Args:
      operators: the library's operators.
    """

    def __init__(self, operators: Iterable[EagerOperator]) -> None:
        self._operators: dict[Any, list[EagerOperator]] = {}
        for operator in operators:
            for overload in _variants(operator):
                self._operators.setdefault(overload, []).append(operator)

    def names(self, overload: Any) -> set[str]:
        """The operators of the library that are equivalent to `overload`."""
        return {operator.name for operator in self._operators.get(overload, ())}

    def calls(self, overload: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Call]:
        """The calls of the library's operators that are equivalent to this call of PyTorch."""
        for operator in self._operators.get(overload, ()):
            given = dict(zip((a.name for a in overload._schema.arguments), args, strict=False)) | dict(kwargs)
            types = {a.name: str(a.type) for a in operator.schema.arguments if not a.is_out}
            first = next(iter(types))
            if first not in given and args:
                given[first] = args[0]
            arguments = {key: _as_type(given[key], kind) for key, kind in types.items() if key in given}
            if all(value is not _NO_VALUE for value in arguments.values()):
                yield make_call(operator, arguments, None if "dtype" in types else given.get("dtype"))


class Recorder(TorchDispatchMode):
    """Records the calls of one operator while active."""

    def __init__(self, overloads: Overloads, operator: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._overloads = overloads
        self._operator = operator
        self._calls: list[Call] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if self._operator in self._overloads.names(func):
            calls = self._overloads.calls(func, args, kwargs or {})
            self._calls.extend(call for call in calls if call.operator == self._operator)
        return func(*args, **(kwargs or {}))

    def take(self) -> list[Call]:
        """The calls since the last call of this method."""
        calls, self._calls = self._calls, []
        return calls


class Names(TorchDispatchMode):
    """Records which of PyTorch's overloads are called while active."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.overloads: set[Any] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        self.overloads.add(func)
        return func(*args, **(kwargs or {}))


def make_call(operator: EagerOperator, given: Mapping[str, Any], out_dtype: torch.dtype | None = None) -> Call:
    """A call with the operator's arguments from `given`, and defaults for missing arguments."""
    args, kwargs = [], {}
    for argument in operator.schema.arguments:
        if argument.is_out:
            continue
        value = given.get(argument.name, argument.default_value)
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return Call(operator.name, tuple(args), kwargs, out_dtype)


_NO_VALUE = object()


def _as_type(value: Any, kind: str) -> Any:
    """A copy of the value as an argument of the schema type `kind`. Copied tensors are dense and have a dim order."""
    if isinstance(value, torch.Tensor):
        if "number" in kind:
            return value.flatten()[0].item() if value.numel() else _NO_VALUE
        value = value.detach().resolve_conj().resolve_neg()
        return inputs.with_dim_order(value, inputs.dim_order_of(value))
    if isinstance(value, (bool, int, float, complex)) and "Tensor" in kind:
        return torch.tensor(value)
    if (value is None and kind == "Tensor") or (isinstance(value, (list, tuple)) and kind == "int"):
        return _NO_VALUE
    if isinstance(value, int) and "List[int]" in kind:
        return [value]  # `int[1] dim` accepts an int in Python
    return [_as_type(item, "") for item in value] if isinstance(value, (list, tuple)) else value


def _variants(operator: EagerOperator) -> set[Any]:
    """The overloads that are equivalent to `operator`."""
    if operator.name in _OTHER_NAMES:
        return {_overload(_OTHER_NAMES[operator.name])}
    if operator.functional is None:
        return set()
    names = [argument.name for argument in operator.schema.arguments if not argument.is_out]
    packet = operator.functional._overloadpacket
    overloads = [getattr(packet, name) for name in packet.overloads()]
    same = {overload for overload in overloads if [a.name for a in overload._schema.arguments] == names}
    variants = set()
    for overload in {operator.functional, *same}:
        variants.add(overload)
        name, _, suffix = str(overload).removeprefix("aten.").partition(".")
        name = name.removesuffix("_copy") if name.endswith("_copy") else name + "_"
        variants.add(_overload(f"{name}.{suffix}"))
    return variants - {None}


def _overload(name: str) -> Any:
    packet, _, suffix = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet, None), suffix or "default", None)
