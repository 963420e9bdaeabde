"""The dtypes of kernels in a dtype-selective build: the selected dtypes, and the dtypes of computation."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.model import kernel_keys, scalar_types, schema, selection

_TYPES = scalar_types.SCALAR_TYPES
_SIGNED = tuple(_TYPES[name] for name in ("Char", "Short", "Int", "Long"))
_INTEGERS = (_TYPES["Byte"], *_SIGNED)
_WIDE_UNSIGNED = tuple(_TYPES[name] for name in ("UInt16", "UInt32", "UInt64"))
_REAL = tuple(_TYPES[name] for name in ("Half", "BFloat16", "Float", "Double"))
# For each floating-point dtype, in the same order, the complex dtype with parts of that dtype, or the next larger one.
_COMPLEX = tuple(_TYPES[name] for name in ("ComplexHalf", "ComplexFloat", "ComplexFloat", "ComplexDouble"))
_BOOL, _BYTE, _SHORT, _LONG, _FLOAT = (_TYPES[name] for name in ("Bool", "Byte", "Short", "Long", "Float"))


def promote(a: int, b: int) -> int | None:
    """Returns the dtype to which PyTorch promotes two dtypes; None if PyTorch refuses the combination."""
    if a == b:
        return a
    for x, y in ((a, b), (b, a)):
        if (x == _BOOL and y in (*_INTEGERS, *_REAL, *_COMPLEX)) or (x in _INTEGERS and y in (*_REAL, *_COMPLEX)):
            return y
        if x in _WIDE_UNSIGNED and y in _REAL:
            return y
        if x == _BYTE and y in _SIGNED:
            return max(y, _SHORT)
        if x in _REAL and y in _COMPLEX:
            return max(_COMPLEX[_REAL.index(x)], y)
    if (a in _SIGNED and b in _SIGNED) or (a in _COMPLEX and b in _COMPLEX):
        return max(a, b)
    if a in _REAL and b in _REAL:
        # Neither Half nor BFloat16 contains the other.
        return _FLOAT if {a, b} == {*_REAL[:2]} else _REAL[max(_REAL.index(a), _REAL.index(b))]
    return None


def with_computed(dtypes: Iterable[int], function: schema.FunctionSchema) -> frozenset[int]:
    """Returns the dtypes that the switches of a kernel need for tensors of some dtypes.

    The result has the given dtypes, the dtypes of computation, and the promotions of each two of them. Half and
    BFloat16 are computed in Float, and ComplexHalf in ComplexFloat. Integers and Bool add Float, for floating-point
    functions and fractional numbers. If the operator has a Scalar argument, Bool adds Long, for Bool tensors with
    integers.
    """
    closed = set(dtypes)
    if closed & {*_REAL[:2], *_INTEGERS, *_WIDE_UNSIGNED, _BOOL}:
        closed.add(_FLOAT)
    if _COMPLEX[0] in closed:
        closed.add(_COMPLEX[2])
    if _BOOL in closed and any(schema.base_name(argument.type) == "Scalar" for argument in function.arguments):
        closed.add(_LONG)
    while True:
        more = {promoted for a in closed for b in closed if (promoted := promote(a, b)) is not None} - closed
        if not more:
            return frozenset(closed)
        closed |= more


def selected(function: schema.FunctionSchema, wanted: selection.Selection) -> frozenset[int] | None:
    """Returns the selected dtypes of an operator's kernel, with the dtypes of computation.

    None for all dtypes; empty if the operator is not selected.
    """
    name = str(function.name)
    base = name.partition(".")[0]
    if wanted.include_all:
        return None
    keys: set[str] = set()
    for other, operator in wanted.operators.items():
        if other == name or (operator.all_overloads and other.partition(".")[0] == base):
            keys |= operator.kernel_keys
    if not keys:
        return frozenset()
    dtypes = kernel_keys.dtypes(keys)
    return None if dtypes is None else with_computed(dtypes, function)
