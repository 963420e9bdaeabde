"""The operators on numbers that ExecuTorch's runtime brings itself, as C++ expressions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

INT, DOUBLE, BOOL = "int64_t", "double", "bool"

_INT_LEAST = -(2**63)
_ARITHMETIC = {"add": "+", "mul": "*", "sub": "-"}
_COMPARISONS = {"eq": "==", "ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_ROUNDING = {"ceil": "std::ceil", "round": "std::nearbyint", "trunc": "std::trunc"}
_TO_NUMBER = {"sym_float": DOUBLE, "sym_int": INT}
# The numbers of arguments of the operators.
ARGUMENTS = {
    **dict.fromkeys([*_ROUNDING, *_TO_NUMBER, "neg", "sym_not"], 1),
    **dict.fromkeys([*_ARITHMETIC, *_COMPARISONS, "floordiv", "mod", "sym_max", "sym_min", "truediv"], 2),
    "sym_ite": 3,
}


class Number(NamedTuple):
    """A number in C++.

    Attributes:
        text: the expression.
        type: the type, one of INT, DOUBLE and BOOL.
    """

    text: str
    type: str


def literal(value: int | float | bool) -> Number:
    """Returns the literal of a number."""
    if isinstance(value, bool):
        return Number("true" if value else "false", BOOL)
    if isinstance(value, int):
        return Number("INT64_MIN" if value == _INT_LEAST else f"int64_t{{{value}}}", INT)
    if math.isnan(value):
        return Number("std::numeric_limits<double>::quiet_NaN()", DOUBLE)
    if math.isinf(value):
        sign = "-" if value < 0 else ""
        return Number(f"{sign}std::numeric_limits<double>::infinity()", DOUBLE)
    return Number(repr(value), DOUBLE)


def computed(name: str, arguments: Sequence[Number]) -> Number:
    """Returns the result of an operator.

    Args:
        name: the operator's name without namespace and overload, such as `floordiv`. One of ARGUMENTS.
        arguments: the arguments, as many as ARGUMENTS says.
    """
    types = [argument.type for argument in arguments]
    joint = DOUBLE if DOUBLE in types else INT
    texts = [text if type_ == joint else f"static_cast<{joint}>({text})" for text, type_ in arguments]
    if name in _ARITHMETIC:
        return Number(f"{texts[0]} {_ARITHMETIC[name]} {texts[1]}", joint)
    if name in _COMPARISONS:
        return Number(f"{texts[0]} {_COMPARISONS[name]} {texts[1]}", BOOL)
    if name in _ROUNDING:
        return Number(f"static_cast<int64_t>({_ROUNDING[name]}({texts[0]}))", INT)
    if name in _TO_NUMBER:
        return Number(f"static_cast<{_TO_NUMBER[name]}>({arguments[0].text})", _TO_NUMBER[name])
    match name:
        case "truediv":
            return Number(f"static_cast<double>({texts[0]}) / static_cast<double>({texts[1]})", DOUBLE)
        case "floordiv":
            return Number(f"floor_divide({texts[0]}, {texts[1]})", joint)
        case "mod":
            return Number(f"modulo({texts[0]}, {texts[1]})", joint)
        case "neg":
            return Number(f"-({texts[0]})", joint)
        case "sym_not":
            return Number(f"!({arguments[0].text})", BOOL)
        case "sym_max":
            return Number(f"std::max<{joint}>({texts[0]}, {texts[1]})", joint)
        case "sym_min":
            return Number(f"std::min<{joint}>({texts[0]}, {texts[1]})", joint)
        case _:
            assert name == "sym_ite", f"{name} was let through by Method"
            (condition, _), *branches = arguments
            joint = DOUBLE if DOUBLE in types[1:] else INT
            first, second = (f"static_cast<{joint}>({text})" for text, _ in branches)
            return Number(f"{condition} ? {first} : {second}", joint)
