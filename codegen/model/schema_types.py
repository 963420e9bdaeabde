"""The table of schema types: the kinds of values in a program, and the C++ types for ExecuTorch's or PyTorch's tensors.

The C++ types for ExecuTorch's tensors are those of ExecuTorch's code generator. The C++ types for PyTorch's tensors are
those of PyTorch's dispatcher. Kernels that were written for either need no changes.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass


class Dialect(enum.Enum):
    """The kind of tensors that a kernel takes."""

    EXECUTORCH = enum.auto()
    ATEN = enum.auto()


@dataclass(frozen=True, slots=True)
class CppType:
    """A type in C++.

    Attributes:
        name: the type in source code.
        demangled: the type in a demangler's spelling.
        by_reference: whether the type is passed as a const reference.
    """

    name: str
    demangled: str
    by_reference: bool = False

    @property
    def parameter(self) -> str:
        return f"const {self.name}&" if self.by_reference else self.name

    @property
    def demangled_parameter(self) -> str:
        return f"{self.demangled} const&" if self.by_reference else self.demangled


@dataclass(frozen=True, slots=True)
class SchemaType:
    """A type of schemas.

    Attributes:
        tags: the kinds of a program's values for the type, named as in program.fbs; empty if no program has values of
            the type.
        executorch: the C++ type in a kernel with ExecuTorch's tensors; None if such a kernel cannot take the type.
        aten: the C++ type in a kernel with PyTorch's tensors; None if only PyTorch's own kernels take the type.
        aten_optional: the C++ type of the optional in a kernel with PyTorch's tensors, unless a `std::optional`.
        is_returned: whether a kernel may return the type by value, for assignment to a program's value.
    """

    tags: frozenset[str] = frozenset()
    executorch: CppType | None = None
    aten: CppType | None = None
    aten_optional: CppType | None = None
    is_returned: bool = False

    def cpp_type(self, dialect: Dialect) -> CppType | None:
        return self.executorch if dialect is Dialect.EXECUTORCH else self.aten

    @property
    def optional(self) -> SchemaType:
        """The optional of this type. A program may have None for an optional of any type."""
        return SchemaType(
            tags=self.tags | {"Null"},
            executorch=_optional(self.executorch),
            aten=self.aten_optional or _optional(self.aten),
        )


def _optional(type_: CppType | None) -> CppType | None:
    # An optional is passed like its element. Lists are views and are passed by value.
    if type_ is None:
        return None
    return CppType(f"std::optional<{type_.name}>", f"std::optional<{type_.demangled}>", type_.by_reference)


def _executorch(name: str, by_reference: bool = False) -> CppType:
    return CppType(f"executorch::aten::{name}", f"executorch::runtime::etensor::{name}", by_reference)


def _array(element: CppType) -> CppType:
    return CppType(f"executorch::aten::ArrayRef<{element.name}>", f"executorch::runtime::ArrayRef<{element.demangled}>")


def _number(tag: str, type_: CppType) -> SchemaType:
    """Returns a type with the same C++ type for both kinds of tensors."""
    return SchemaType(frozenset({tag}), type_, type_, is_returned=True)


def _named_number(name: str) -> SchemaType:
    """Returns an enumeration of both C++ libraries. A program has the number of the value."""
    return SchemaType(frozenset({"Int"}), _executorch(name), CppType(f"at::{name}", f"c10::{name}"))


_TENSOR = _executorch("Tensor", by_reference=True)
_INT = CppType("int64_t", "long")
_FLOAT = CppType("double", "double")
_BOOL = CppType("bool", "bool")
_TEXT = CppType("std::string_view", "std::basic_string_view<char, std::char_traits<char>>")
_INTS = SchemaType(
    frozenset({"IntList"}),
    _array(_INT),
    CppType("at::IntArrayRef", "c10::ArrayRef<long>"),
    aten_optional=CppType("at::OptionalIntArrayRef", "c10::OptionalArrayRef<long>"),
)
# PyTorch has no ArrayRef of bools, since std::vector<bool> is not an array of bools.
_BOOLS = SchemaType(frozenset({"BoolList"}), _array(_BOOL), CppType("c10::List<bool>", "c10::List<bool>"))

# All types except optionals. Lists are without sizes.
TYPES: Mapping[str, SchemaType] = {
    "Tensor": SchemaType(
        frozenset({"Tensor"}), _TENSOR, CppType("at::Tensor", "at::Tensor", by_reference=True), is_returned=True
    ),
    "Scalar": SchemaType(
        frozenset({"Int", "Double", "Bool"}),
        _executorch("Scalar", by_reference=True),
        CppType("at::Scalar", "c10::Scalar", by_reference=True),
        is_returned=True,
    ),
    "int": _number("Int", _INT),
    "SymInt": _number("Int", _INT),
    "float": _number("Double", _FLOAT),
    "bool": _number("Bool", _BOOL),
    "SymBool": _number("Bool", _BOOL),
    "str": SchemaType(frozenset({"String"}), _TEXT, _TEXT),
    "ScalarType": _named_number("ScalarType"),
    "MemoryFormat": _named_number("MemoryFormat"),
    "Layout": _named_number("Layout"),
    "Device": _named_number("Device"),
    "Tensor[]": SchemaType(
        frozenset({"TensorList"}), _array(_TENSOR), CppType("at::TensorList", "c10::ArrayRef<at::Tensor>")
    ),
    "Tensor?[]": SchemaType(
        frozenset({"OptionalTensorList"}),
        _array(CppType(f"std::optional<{_TENSOR.name}>", f"std::optional<{_TENSOR.demangled}>")),
        CppType("c10::List<std::optional<at::Tensor>>", "c10::List<std::optional<at::Tensor>>", by_reference=True),
    ),
    "int[]": _INTS,
    "SymInt[]": _INTS,
    "float[]": SchemaType(
        frozenset({"DoubleList"}), _array(_FLOAT), CppType("at::ArrayRef<double>", "c10::ArrayRef<double>")
    ),
    "bool[]": _BOOLS,
    "SymBool[]": _BOOLS,
    "Scalar[]": SchemaType(frozenset({"IntList", "DoubleList", "BoolList"})),
    # Further types of PyTorch's operators, of which no program has values.
    "DeviceIndex": SchemaType(),
    "DimVector": SchemaType(),
    "Dimname": SchemaType(),
    "Generator": SchemaType(),
    "QScheme": SchemaType(),
    "Storage": SchemaType(),
    "Stream": SchemaType(),
}

BASE_TYPES = frozenset(name for name in TYPES if not name.endswith("[]"))


# A program has no generators of random numbers, so that the argument is always None. A kernel takes it as an optional
# int.
_NO_GENERATOR = SchemaType(frozenset({"Null"}), _optional(_INT))


@functools.cache
def find(text: str) -> SchemaType:
    """Returns a type by its text in a schema: `int[2]?`."""
    text = re.sub(r"\[\d+\]", "[]", text)
    if text == "Generator?":
        return _NO_GENERATOR
    if text not in TYPES and text.endswith("?") and not text.endswith("??"):
        return find(text[:-1]).optional
    return TYPES.get(text, SchemaType())
