"""The types that a schema can name, each once: what a program has for it, and its C++ with either kind of tensors.

The C++ with ExecuTorch's tensors follows ExecuTorch's code generator, and the C++ with PyTorch's tensors follows what
PyTorch's dispatcher calls, so that kernels written for either fit unchanged.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass


class Dialect(enum.Enum):
    """Whose tensors a kernel takes."""

    EXECUTORCH = enum.auto()
    ATEN = enum.auto()


@dataclass(frozen=True, slots=True)
class CppType:
    """A type in C++.

    Attributes:
        name: the type in source code.
        demangled: the same type as a demangler spells it.
        by_reference: whether it is passed as a const reference.
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
    """What becomes of a schema's type.

    Attributes:
        tags: the kinds of values, by their names in program.fbs, that a program has for it; none if no program has
            values of the type.
        executorch: the C++ of a kernel with ExecuTorch's tensors; None if such a kernel cannot take the type.
        aten: the C++ of a kernel with PyTorch's tensors; None if only PyTorch's own kernels take the type.
        aten_optional: the C++ of an optional in a kernel with PyTorch's tensors, where that is no `std::optional`.
        is_returned: whether a kernel may return the type by value, which is what a program's value is assigned from.
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
        """What becomes of the optional of this type. A program may have no value for it, whatever the type is."""
        return SchemaType(
            tags=self.tags | {"Null"},
            executorch=_optional(self.executorch),
            aten=self.aten_optional or _optional(self.aten),
        )


def _optional(type_: CppType | None) -> CppType | None:
    # An optional is passed as its element is; lists, which are views, are passed by value.
    if type_ is None:
        return None
    return CppType(f"std::optional<{type_.name}>", f"std::optional<{type_.demangled}>", type_.by_reference)


def _executorch(name: str, by_reference: bool = False) -> CppType:
    return CppType(f"executorch::aten::{name}", f"executorch::runtime::etensor::{name}", by_reference)


def _array(element: CppType) -> CppType:
    return CppType(f"executorch::aten::ArrayRef<{element.name}>", f"executorch::runtime::ArrayRef<{element.demangled}>")


def _number(tag: str, type_: CppType) -> SchemaType:
    """A type that is the same with either kind of tensors."""
    return SchemaType(frozenset({tag}), type_, type_, is_returned=True)


def _named_number(name: str) -> SchemaType:
    """A type of the C++ libraries of both kinds of tensors, which a program has the number of."""
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
# PyTorch has no ArrayRef of bools, since std::vector<bool> has no array.
_BOOLS = SchemaType(frozenset({"BoolList"}), _array(_BOOL), CppType("c10::List<bool>", "c10::List<bool>"))

# Every type but the optionals, and lists without their sizes.
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
    # What operators of PyTorch have beside these, and no program has values of.
    "DeviceIndex": SchemaType(),
    "DimVector": SchemaType(),
    "Dimname": SchemaType(),
    "Generator": SchemaType(),
    "QScheme": SchemaType(),
    "Storage": SchemaType(),
    "Stream": SchemaType(),
}

BASE_TYPES = frozenset(name for name in TYPES if not name.endswith("[]"))


@functools.cache
def find(text: str) -> SchemaType:
    """What becomes of a type as a schema writes it: `int[2]?`."""
    text = re.sub(r"\[\d+\]", "[]", text)
    if text not in TYPES and text.endswith("?") and not text.endswith("??"):
        return find(text[:-1]).optional
    return TYPES.get(text, SchemaType())
