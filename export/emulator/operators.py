"""The operators of a program as functions of PyTorch.

A program calls out variants. PyTorch computes the functional variant, and the emulator writes the result to the memory
of the out argument.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from executorch.exir.tensor import get_scalar_type

from export.graph_passes.operators import registration

_VIEW_COPY = "aten::view_copy.out"
# Arguments of functional variants that out variants lack, since the out argument has these properties.
_OF_RESULT = frozenset({"dtype", "layout", "device", "pin_memory"})
# The memory formats of ExecuTorch's schema by number.
_MEMORY_FORMATS = (torch.contiguous_format, torch.preserve_format)


class UnknownOperatorError(Exception):
    """PyTorch has no function for an operator."""


@dataclass(frozen=True)
class Operator:
    """An operator of a program.

    Attributes:
        name: the full name, `aten::add.out`.
        schema: the schema. An instruction has an argument for each argument of the schema, in order.
        outs: the positions of the out arguments.
        written: the positions of the other arguments that the operator writes to.
        compute: returns the results for the arguments without out arguments. Arguments at `written` change in place.
        draws: whether the result depends on random numbers.
        dim_orders: the dim orders that the kernel requires, by the names of arguments.
    """

    name: str
    schema: torch.FunctionSchema
    outs: tuple[int, ...]
    written: tuple[int, ...]
    compute: Callable[[Sequence[Any], Sequence[torch.dtype]], Sequence[Any]]
    draws: bool
    dim_orders: Mapping[str, str]


def taken(schema: torch.FunctionSchema) -> list[torch.Argument]:
    """Returns the arguments that are no out arguments."""
    return [one for one in schema.arguments if not one.is_out]


def convert(argument: torch.Argument, value: Any) -> Any:
    """Returns a value with the type of the schema. A program has numbers for dtypes and memory formats."""
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    kind = str(argument.real_type).replace("Optional[", "").rstrip("]?")
    if kind == "ScalarType":
        return get_scalar_type(value)
    if kind == "MemoryFormat":
        return _MEMORY_FORMATS[value]
    return torch.strided if kind == "Layout" else value


@functools.cache
def find(name: str, overload: str) -> Operator:
    """Finds the operator of an instruction.

    Args:
        name: the name with its namespace, `aten::add`.
        overload: the name of the overload; empty for the default.
    Raises:
        UnknownOperatorError: PyTorch has no such operator.
    """
    full = f"{name}.{overload}" if overload else name
    namespace, _, base = name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    called = getattr(packet, overload or "default", None)
    if called is None:
        raise UnknownOperatorError(f"PyTorch has no operator {full}")
    arguments = called._schema.arguments
    outs = tuple(index for index, one in enumerate(arguments) if one.is_out)
    written = tuple(index for index, one in enumerate(arguments) if one.is_write and not one.is_out)
    function = _functional(packet, called)
    if function is not None:
        compute = functools.partial(_compute, called, function)
    else:
        compute = functools.partial(_compute_out, called)
    draws = torch.Tag.nondeterministic_seeded in called.tags or (
        function is not None and torch.Tag.nondeterministic_seeded in function.tags
    )
    dim_orders = {"self": "contiguous"} if full == _VIEW_COPY else registration.dim_orders(called)
    return Operator(full, called._schema, outs, written, compute, draws, dim_orders)


def _functional(packet: Any, called: torch._ops.OpOverload) -> torch._ops.OpOverload | None:
    """Returns the functional variant of an out variant; the operator itself if there are no out arguments."""
    wanted = taken(called._schema)
    if len(wanted) == len(called._schema.arguments):
        return called
    found = None
    for name in packet.overloads():
        one = getattr(packet, name)
        if any(argument.is_out for argument in one._schema.arguments):
            continue
        left = {argument.name: argument for argument in one._schema.arguments}
        if all(a.name in left and str(a.type) == str(left[a.name].type) for a in wanted):
            more = left.keys() - {a.name for a in wanted}
            if not more:
                return one  # type: ignore[no-any-return]  # PyTorch has no types for overloads.
            if more <= _OF_RESULT:
                found = one
    return found


def _compute(
    called: torch._ops.OpOverload,
    function: torch._ops.OpOverload,
    values: Sequence[Any],
    dtypes: Sequence[torch.dtype],
) -> Sequence[Any]:
    args, kwargs = _given(called._schema, values)
    known = {one.name for one in called._schema.arguments}
    if dtypes and any(one.name == "dtype" and one.name not in known for one in function._schema.arguments):
        kwargs["dtype"] = dtypes[0]
    results = function(*args, **kwargs)
    return results if isinstance(results, (tuple, list)) else (results,)


def _compute_out(called: torch._ops.OpOverload, values: Sequence[Any], dtypes: Sequence[torch.dtype]) -> Sequence[Any]:
    args, kwargs = _given(called._schema, values)
    names = [one.name for one in called._schema.arguments if one.is_out]
    outs = [torch.empty(0, dtype=dtype) for dtype in dtypes]
    called(*args, **kwargs, **dict(zip(names, outs, strict=True)))
    return outs


def _given(schema: torch.FunctionSchema, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Returns the positional and the keyword arguments of a call, without out arguments."""
    args, kwargs = [], {}
    for argument, value in zip(taken(schema), values, strict=True):
        if argument.kwarg_only:
            kwargs[argument.name] = value
        else:
            args.append(value)
    return args, kwargs


def _remainder(dividend: int, divisor: int) -> int:
    """Returns the remainder of C++, which has the sign of the dividend."""
    remainder = abs(dividend) % abs(divisor)
    return -remainder if dividend < 0 else remainder


# The operators of ExecuTorch's runtime that compute with numbers.
NUMBERS: Mapping[str, Callable[..., Any]] = {
    "executorch_prim::add.Scalar": operator.add,
    "executorch_prim::ceil.Scalar": math.ceil,
    "executorch_prim::eq.Scalar": operator.eq,
    "executorch_prim::floordiv.Scalar": operator.floordiv,
    "executorch_prim::ge.Scalar": operator.ge,
    "executorch_prim::gt.Scalar": operator.gt,
    "executorch_prim::le.Scalar": operator.le,
    "executorch_prim::lt.Scalar": operator.lt,
    "executorch_prim::mod.Scalar": _remainder,
    "executorch_prim::mul.Scalar": operator.mul,
    "executorch_prim::neg.Scalar": operator.neg,
    "executorch_prim::round.Scalar": round,
    "executorch_prim::sub.Scalar": operator.sub,
    "executorch_prim::sym_float.Scalar": float,
    "executorch_prim::sym_int.Scalar": int,
    "executorch_prim::sym_ite.Scalar": lambda condition, then, otherwise: then if condition else otherwise,
    "executorch_prim::sym_max.Scalar": max,
    "executorch_prim::sym_min.Scalar": min,
    "executorch_prim::sym_not.Scalar": operator.not_,
    "executorch_prim::truediv.Scalar": operator.truediv,
    "executorch_prim::trunc.Scalar": math.trunc,
}
