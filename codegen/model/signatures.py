"""What a schema is in C++: the types of a kernel's parameters, and how `nm --demangle` spells them.

Everything follows ExecuTorch, so that kernels written for it fit unchanged.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codegen.model import schema
from diagnostics.errors import Finding, Location

CONTEXT = "executorch::runtime::KernelRuntimeContext"
DEMANGLED_CONTEXT = f"{CONTEXT}&"


@dataclass(frozen=True, slots=True)
class CppType:
    """One of the C++ types that a value in a program can be read as.

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


_ETENSOR = "executorch::runtime::etensor"
_BASE = {
    "Tensor": CppType("executorch::aten::Tensor", f"{_ETENSOR}::Tensor", by_reference=True),
    "Scalar": CppType("executorch::aten::Scalar", f"{_ETENSOR}::Scalar", by_reference=True),
    "ScalarType": CppType("executorch::aten::ScalarType", f"{_ETENSOR}::ScalarType"),
    "MemoryFormat": CppType("executorch::aten::MemoryFormat", f"{_ETENSOR}::MemoryFormat"),
    "Layout": CppType("executorch::aten::Layout", f"{_ETENSOR}::Layout"),
    "Device": CppType("executorch::aten::Device", f"{_ETENSOR}::Device"),
    "int": CppType("int64_t", "long"),
    "SymInt": CppType("int64_t", "long"),
    "float": CppType("double", "double"),
    "bool": CppType("bool", "bool"),
    "SymBool": CppType("bool", "bool"),
    "str": CppType("std::string_view", "std::basic_string_view<char, std::char_traits<char>>"),
}
# The element types of the lists that a value can hold.
_LIST_ELEMENTS = frozenset({"Tensor", "Tensor?", "int", "SymInt", "float", "bool", "SymBool"})
# What a kernel may return by value: the types that a value in a program can be assigned from.
_RETURNED_BY_VALUE = frozenset({"Tensor", "Scalar", "int", "SymInt", "float", "bool", "SymBool"})

# Words that cannot name a parameter, and the names that the generated code itself uses beside parameters.
_RESERVED_WORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class "
    "compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short signed "
    "sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef "
    "typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq context "
    "event_tracer_op_scope result stack ArrayRef Device EValue Layout MemoryFormat Scalar ScalarType Tensor "
    "TensorList int64_t std executorch"
)
_RESERVED = frozenset(_RESERVED_WORDS.split())


@functools.cache
def cpp_type(type_: schema.Type) -> CppType | None:
    """The C++ type of a schema's type, or None if no value in a program can have it."""
    if isinstance(type_, schema.BaseType):
        return _BASE.get(type_.name)
    element = cpp_type(type_.element)
    if element is None:
        return None
    if isinstance(type_, schema.ListType):
        if str(type_.element) not in _LIST_ELEMENTS:
            return None
        return CppType(
            f"executorch::aten::ArrayRef<{element.name}>", f"executorch::runtime::ArrayRef<{element.demangled}>"
        )
    if isinstance(type_.element, schema.OptionalType):
        return None
    # As in ExecuTorch: an optional is passed as its element is, except that a list is passed by value.
    return CppType(f"std::optional<{element.name}>", f"std::optional<{element.demangled}>", element.by_reference)


def has_values(type_: schema.Type) -> bool:
    """Whether a program has values of a type, or at least None."""
    if isinstance(type_, schema.OptionalType):
        return True
    if isinstance(type_, schema.ListType):
        return str(type_.element) in _LIST_ELEMENTS or str(type_.element) == "Scalar"
    return type_.name in _BASE


@functools.cache
def parameter_types(function: schema.FunctionSchema) -> tuple[str, ...]:
    """The types of a kernel's parameters, without the context."""
    return tuple(f"{t.name}&" if written else t.parameter for t, written in _types(function))


def demangled_parameters(function: schema.FunctionSchema) -> tuple[str, ...]:
    """The types of a kernel's parameters, without the context, as a demangler spells them."""
    return tuple(f"{t.demangled}&" if written else t.demangled_parameter for t, written in _types(function))


@functools.cache
def parameter_names(function: schema.FunctionSchema) -> tuple[str, ...]:
    """C++ names for the parameters: the schema's, with a `_` where C++ reserves the name."""
    return tuple(cpp_name(argument.name) for argument in function.arguments)


def return_type(function: schema.FunctionSchema) -> str:
    types = []
    for returned in function.returns:
        type_ = cpp_type(returned.type)
        name = type_.name if type_ else str(returned.type)
        types.append(f"{name}&" if returned.alias is not None and "!" in returned.alias else name)
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def readable(demangled: str) -> str:
    """A demangled parameter list as source code would spell it."""
    for type_ in _BASE.values():
        demangled = re.sub(rf"(?<![\w:]){re.escape(type_.demangled)}\b(?<!unsigned long)", type_.name, demangled)
    demangled = demangled.replace("executorch::runtime::ArrayRef<", "executorch::aten::ArrayRef<")
    return re.sub(r"([\w:]+(?:<.*?>+)?) const&", r"const \1&", demangled)


def cpp_name(name: str) -> str:
    return f"{name}_" if name in _RESERVED else name


def wrapper_name(function: schema.FunctionSchema) -> str:
    """The name of the operator's typed function in Functions.h, as ExecuTorch chooses it."""
    return f"{function.name.name}_outf" if function.out else cpp_name(function.name.name)


def unsupported(function: schema.FunctionSchema, location: Location) -> list[Finding]:
    """What of a schema no kernel can be called with."""
    findings = [
        Finding(
            id="unsupported-type",
            where=location,
            found=f"the argument '{argument}' of {function.name} has a type that ExecuTorch's runtime has no value for",
            cause="the schema is of an operator that runs in PyTorch only",
            fix="use Tensor, Scalar, int, float, bool, str, ScalarType, MemoryFormat, Layout, Device, optionals of "
            "these, or lists of Tensor, Tensor?, int, float or bool",
        )
        for argument in function.arguments
        if cpp_type(argument.type) is None or (argument.is_written and not _is_writable(argument.type))
    ]
    if function.returns and not function.out:
        returned = [str(r.type) for r in function.returns]
        if len(returned) != 1 or returned[0] not in _RETURNED_BY_VALUE:
            findings.append(
                Finding(
                    id="unsupported-return",
                    where=location,
                    found=f"{function.name} has no out argument and returns {', '.join(returned)}",
                    cause="a program holds one value for what an operator returns, and that is a Tensor or a number",
                    fix="add an out argument for each result: '*, Tensor(a!) out) -> Tensor(a!)'",
                )
            )
    return findings


def _is_writable(type_: schema.Type) -> bool:
    return str(type_) == "Tensor" or (isinstance(type_, schema.ListType) and str(type_.element) == "Tensor")


def _types(function: schema.FunctionSchema) -> Iterator[tuple[CppType, bool]]:
    """Each argument's type, and whether it is passed as a reference to write to."""
    for argument in function.arguments:
        type_ = cpp_type(argument.type)
        assert type_ is not None, f"{argument} was let through by unsupported()"
        # The tensors of a list are written to through the list itself, which is passed by value.
        yield type_, argument.is_written and isinstance(argument.type, schema.BaseType)
