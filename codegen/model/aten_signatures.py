"""What a schema is in the C++ of kernels that take `at::Tensor`, as PyTorch's own kernels have it.

The counterpart of codegen/model/signatures.py, for kernels that PyTorch's dispatcher calls.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from codegen.model import schema
from codegen.model.signatures import CppType
from diagnostics.errors import Finding, Location

_BASE = {
    "Tensor": CppType("at::Tensor", "at::Tensor", by_reference=True),
    "Scalar": CppType("at::Scalar", "c10::Scalar", by_reference=True),
    "ScalarType": CppType("at::ScalarType", "c10::ScalarType"),
    "MemoryFormat": CppType("at::MemoryFormat", "c10::MemoryFormat"),
    "Layout": CppType("at::Layout", "c10::Layout"),
    "Device": CppType("at::Device", "c10::Device"),
    "int": CppType("int64_t", "long"),
    "SymInt": CppType("int64_t", "long"),
    "float": CppType("double", "double"),
    "bool": CppType("bool", "bool"),
    "SymBool": CppType("bool", "bool"),
    "str": CppType("std::string_view", "std::basic_string_view<char, std::char_traits<char>>"),
}
_LISTS = {
    "Tensor": CppType("at::TensorList", "c10::ArrayRef<at::Tensor>"),
    "Tensor?": CppType(
        "c10::List<std::optional<at::Tensor>>", "c10::List<std::optional<at::Tensor>>", by_reference=True
    ),
    "int": CppType("at::IntArrayRef", "c10::ArrayRef<long>"),
    "SymInt": CppType("at::IntArrayRef", "c10::ArrayRef<long>"),
    "float": CppType("at::ArrayRef<double>", "c10::ArrayRef<double>"),
    # PyTorch has no ArrayRef of them, since std::vector<bool> has no array.
    "bool": CppType("c10::List<bool>", "c10::List<bool>"),
    "SymBool": CppType("c10::List<bool>", "c10::List<bool>"),
}


@functools.cache
def parameter_types(function: schema.FunctionSchema) -> tuple[str, ...]:
    """The types of a kernel's parameters."""
    return tuple(f"{t.name}&" if written else t.parameter for t, written in _types(function))


def demangled_parameters(function: schema.FunctionSchema) -> tuple[str, ...]:
    """The types of a kernel's parameters, as a demangler spells them."""
    return tuple(f"{t.demangled}&" if written else t.demangled_parameter for t, written in _types(function))


def return_type(function: schema.FunctionSchema) -> str:
    types = [f"{_cpp_type(returned.type).name}{'' if returned.alias is None else '&'}" for returned in function.returns]
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def unsupported(function: schema.FunctionSchema, location: Location) -> list[Finding]:
    """What of a schema that a kernel with ExecuTorch's tensors can have is not for one with PyTorch's."""
    if all(returned.alias is not None or str(returned.type) != "Tensor" for returned in function.returns):
        return []
    return [
        Finding(
            id="unsupported-return",
            where=location,
            found=f"{function.name} returns a new Tensor, and its kernel takes PyTorch's tensors",
            cause="what PyTorch allocates is freed after the call, and a program's tensors have memory of their own",
            fix="add an out argument: '*, Tensor(a!) out) -> Tensor(a!)'",
        )
    ]


def _cpp_type(type_: schema.Type) -> CppType:
    """The C++ type of a schema's type that a program has values for."""
    if isinstance(type_, schema.BaseType):
        return _BASE[type_.name]
    if isinstance(type_, schema.ListType):
        return _LISTS[str(type_.element)]
    element = _cpp_type(type_.element)
    if element.name == "at::IntArrayRef":
        return CppType("at::OptionalIntArrayRef", "c10::OptionalArrayRef<long>")
    return CppType(f"std::optional<{element.name}>", f"std::optional<{element.demangled}>", element.by_reference)


def _types(function: schema.FunctionSchema) -> Iterator[tuple[CppType, bool]]:
    """Each argument's type, and whether it is passed as a reference to write to."""
    for argument in function.arguments:
        # The tensors of a list are written to through the list itself.
        yield _cpp_type(argument.type), argument.is_written and isinstance(argument.type, schema.BaseType)
