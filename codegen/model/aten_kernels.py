"""PyTorch's own kernels, for operators without a kernel in a YAML.

In a program, outputs have memory before a call, so a program calls out variants. A program can call an operator of
native_functions.yaml if the operator writes all its results to its arguments, or returns a number.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping

from codegen.model import aten_operators, kernel_keys, prim_ops, schema, signatures
from codegen.model.operators import Kernel, Operator
from diagnostics.errors import Finding, Location

# Stands in place of a C++ function if PyTorch's dispatcher finds the kernel.
FUNCTION = "aten"
# The provider of the kernels, for messages.
PROVIDER = "native_functions.yaml"

_KERNEL = Kernel(FUNCTION, (kernel_keys.DEFAULT,), Location(PROVIDER), is_aten=True)


class WithAtenKernels(Mapping[str, Operator]):
    """Operators by their full names: the given operators, and all others with a kernel in PyTorch."""

    def __init__(self, given: Mapping[str, Operator]) -> None:
        self._given = given

    def __getitem__(self, name: str) -> Operator:
        own = _operator(name)
        given = self._given.get(name, own)
        if given is None:
            raise KeyError(name)
        if own and given.default is None:
            return dataclasses.replace(given, kernels=(*given.kernels, _KERNEL))
        return given

    def __contains__(self, name: object) -> bool:
        return name in self._given or (isinstance(name, str) and _operator(name) is not None)

    def __iter__(self) -> Iterator[str]:
        yield from self._given
        yield from (name for name in aten_operators.names() if name not in self._given and _operator(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def no_out_variant(name: str, asked_by: list[str], where: str) -> Finding | None:
    """Returns the finding for an operator of PyTorch that a program cannot call; None if PyTorch has no such operator.

    Args:
        name: the operator's full name.
        asked_by: the labels of the targets or models that request the operator.
        where: the label of the library.
    """
    function = _schema(name)
    if function is None or name in prim_ops.PRIM_OPS:
        return None
    variants = out_variants(function)
    asked = f", which {', '.join(asked_by)} asks for," if asked_by else ""
    found = f"{name}{asked} gives new tensors, and a program can only call an operator that writes to given ones"
    if _is_callable(function):
        found = f"{name}{asked} has an argument that a program has no value for"
    return Finding(
        id="no-aten-out-variant",
        where=where,
        found=found + (f"; its out variant is {variants[0]}" if variants else "; PyTorch has no out variant of it"),
        cause="the functional operator was selected by hand; an exported program calls the out variant"
        if variants
        else "the operator is for PyTorch only",
        fix=f"select {variants[0]}" if variants else "leave the operator out of the model, or write a kernel for it",
        details=(f"its schema: {function}",),
    )


def unbound() -> Mapping[str, str]:
    """Returns the operators that write to arguments or return numbers but that a program cannot call, with reasons.

    Operators that a program calls by an out variant are left out.
    """
    reasons: dict[str, str] = {}
    for name in aten_operators.names():
        function = _schema(name)
        assert function is not None
        if name in prim_ops.PRIM_OPS or _operator(name):
            continue
        if _is_callable(function):
            without_values = (str(a.type) for a in function.arguments if not signatures.has_values(a.type))
            reasons[name] = f"takes a {next(without_values)}"
        elif any(argument.is_written for argument in function.arguments) and not out_variants(function):
            reasons[name] = "writes to an argument and gives a new value, too"
    return reasons


@functools.cache
def _schema(name: str) -> schema.FunctionSchema | None:
    parsed = schema.parse_operator_name(name)
    return aten_operators.find(parsed) if parsed else None


@functools.cache
def _operator(name: str) -> Operator | None:
    """Returns an operator with PyTorch's kernel; None if a program cannot call the operator."""
    function = _schema(name)
    if function is None or name in prim_ops.PRIM_OPS or not _is_callable(function):
        return None
    if not all(signatures.has_values(argument.type) for argument in function.arguments):
        return None
    return Operator(function, (_KERNEL,), Location(PROVIDER))


def _is_callable(function: schema.FunctionSchema) -> bool:
    """Returns whether each result of an operator is an argument, or the only result is a number."""
    if all(returned.is_written for returned in function.returns):
        return bool(function.out) or any(argument.is_written for argument in function.arguments)
    return [str(returned.type) for returned in function.returns] in (["Scalar"], ["int"], ["float"], ["bool"])


def out_variants(function: schema.FunctionSchema) -> list[str]:
    """Returns the out variants of an operator, under any overload. Variants with the same arguments come first."""
    prefix = f"{function.name.namespace}::{function.name.name}."
    others = [name for name in aten_operators.names() if name.startswith(prefix) and _operator(name)]
    types = [argument.type for argument in function.positional + function.keyword_only]

    def differs(name: str) -> tuple[bool, str]:
        other = _schema(name)
        assert other is not None
        return [argument.type for argument in other.positional + other.keyword_only] != types, name

    return sorted((name for name in others if (other := _schema(name)) and other.out), key=differs)
