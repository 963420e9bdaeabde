"""Defaults of arguments in schemas: those that PyTorch's parser takes for the values that they look like.

PyTorch parses the schemas of functional variants when a library loads. Its parser refuses some defaults, and takes
others for values that the argument cannot have: `int n=0x10` is 0 for the parser, and `int n=1.5` is no integer.
"""

from __future__ import annotations

import functools
import math
import re
import sys

# At most 19 digits that count, since Python refuses to convert thousands of digits.
_INTEGER = re.compile(r"-? *0*(?:0|[1-9]\d{0,18})", re.ASCII)
_NUMBER = re.compile(r"-? *(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_HEXADECIMAL = re.compile(r"-? *0[xX][\da-fA-F]{1,15}", re.ASCII)
_TEXT = re.compile(r"""'(?:[^'\\]|\\['"\\abfntv])*'|"(?:[^"\\]|\\['"\\abfntv])*\"""")
_LIST = re.compile(r"(.*)\[(\d*)\]")
_INT64 = range(-(2**63), 2**63)
_DTYPES = frozenset(
    [
        *("bfloat16", "bit", "bits16", "bits1x8", "bits2x4", "bits4x2", "bits8", "bool", "cdouble", "cfloat", "chalf"),
        *("complex128", "complex32", "complex64", "double", "float", "float16", "float32", "float4_e2m1fn_x2"),
        *("float64", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "half"),
        *("int", "int1", "int16", "int2", "int3", "int32", "int4", "int5", "int6", "int64", "int7", "int8", "long"),
        *("qint32", "qint8", "quint2x4", "quint4x2", "quint8", "short", "uint1", "uint16", "uint2", "uint3", "uint32"),
        *("uint4", "uint5", "uint6", "uint64", "uint7", "uint8"),
    ]
)
# Names that the parser knows, by the types.
_NAMES = {
    "int": {"Mean"},  # The reduction of a loss.
    "bool": {"True", "False"},
    "Scalar": {"True", "False"},
    "ScalarType": _DTYPES,
    "Layout": {"strided"},
    "MemoryFormat": {"contiguous_format"},
}
# What the parser takes, by the types. For all other types, this is None only.
_TAKEN = {
    "int": "a decimal integer of 64 bits",
    "float": "a finite decimal number",
    "bool": "True or False",
    "Scalar": "a finite decimal number, True or False",
    "str": r"""a text in quotes, with no escapes but \n, \t, \a, \b, \f, \v, \\, \' and \"""",
    "ScalarType": "the name of a dtype, such as float32",
    "Layout": "strided, or the number of a layout",
    "MemoryFormat": "contiguous_format, or the number of a memory format",
    "Device": "a device in quotes, such as 'cpu'",
}
_LISTS = {"int": "[1, 2]", "float": "[0.5, 2.0]", "bool": "[True, False]"}


@functools.cache
def expected(type_: str, default: str) -> str | None:
    """Returns what a default of a type can be; None if the default is such a value.

    Args:
        type_: the type without alias annotation, as in the schema: `int[2]?`.
        default: the text of the default.
    """
    if type_.endswith("?"):
        return _expected_optional(type_[:-1], default)
    if match := _LIST.fullmatch(type_):
        return _expected_list(_kind(match[1]), match[2], default)
    kind = _kind(type_)
    return None if _is_one(kind, default) else _TAKEN.get(kind, "None")


def _kind(type_: str) -> str:
    return {"SymInt": "int", "DeviceIndex": "int"}.get(type_, type_)


def _expected_optional(element: str, default: str) -> str | None:
    if default == "None":
        return None
    # The parser takes no list as the default of an optional.
    kind = _kind(element)
    if kind not in _TAKEN:
        return "None"
    # In an optional, the parser reads a number as it reads a Scalar.
    is_one = _is_number(default) if kind == "float" else _is_one(kind, default)
    return None if is_one else f"None or {_TAKEN[kind]}"


def _expected_list(kind: str, size: str, default: str) -> str | None:
    if kind not in _LISTS:
        return "left out, since only lists of int, float and bool have one"
    if default.startswith("[") and default.endswith("]"):
        elements = [one.strip() for one in default[1:-1].split(",")]
        is_one = elements == [""] or all(_is_element(kind, one) for one in elements)
    else:
        is_one = bool(size) and _is_element(kind, default)  # One value for all elements.
    if is_one:
        return None
    return f"a list such as {_LISTS[kind]}" + (f", or {_TAKEN[kind]} for all elements" if size else "")


def _is_element(kind: str, default: str) -> bool:
    return _is_integer(default) if kind == "int" else _is_one(kind, default)


def _is_one(kind: str, default: str) -> bool:
    """Returns whether the parser takes a default for a value of a type that is neither optional nor a list."""
    if default in _NAMES.get(kind, ()):
        return True
    if kind in ("int", "ScalarType", "Layout", "MemoryFormat"):
        return _is_integer(default)
    if kind == "float":
        return _is_double(default) or _HEXADECIMAL.fullmatch(default) is not None
    if kind == "Scalar":
        return _is_number(default)
    if kind in ("str", "Device"):
        return _TEXT.fullmatch(default) is not None
    return kind not in _TAKEN and default == "None"


def _is_integer(default: str) -> bool:
    return _INTEGER.fullmatch(default) is not None and int(default.replace(" ", "")) in _INT64


def _is_number(default: str) -> bool:
    # The parser reads `1E5` as the integer 1.
    return _is_integer(default) or (("." in default or "e" in default) and _is_double(default))


def _is_double(default: str) -> bool:
    if not _NUMBER.fullmatch(default):
        return False
    value = abs(float(default.replace(" ", "")))
    # The parser refuses numbers that are no normal doubles.
    is_zero = not re.search(r"[1-9]", re.split("[eE]", default)[0])
    return is_zero or sys.float_info.min <= value < math.inf
