"""Converts schemas to C++ signatures of kernels, and to the spelling of `nm --demangle`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from codegen.model import cpp_names, schema, schema_types
from codegen.model.schema_types import CppType, Dialect
from diagnostics.errors import Finding, Location

CONTEXT = "executorch::runtime::KernelRuntimeContext"
DEMANGLED_CONTEXT = f"{CONTEXT}&"
_OF_EXECUTORCH = "executorch::aten::"


def cpp_type(type_: schema.Type, dialect: Dialect = Dialect.EXECUTORCH) -> CppType | None:
    """Returns the C++ type of a schema's type; None if no kernel of the dialect can take the type."""
    return schema_types.find(str(type_)).cpp_type(dialect)


def has_values(type_: schema.Type) -> bool:
    """Returns whether a program has values of a type, or None."""
    return bool(schema_types.find(str(type_)).tags)


@functools.cache
def parameter_types(function: schema.FunctionSchema, dialect: Dialect = Dialect.EXECUTORCH) -> tuple[str, ...]:
    """Returns the types of a kernel's parameters, without the context."""
    return tuple(f"{t.name}&" if written else t.parameter for t, written in _types(function, dialect))


def demangled_parameters(function: schema.FunctionSchema, dialect: Dialect = Dialect.EXECUTORCH) -> tuple[str, ...]:
    """Returns the types of a kernel's parameters, without the context, in a demangler's spelling."""
    return tuple(f"{t.demangled}&" if written else t.demangled_parameter for t, written in _types(function, dialect))


@functools.cache
def parameter_names(function: schema.FunctionSchema) -> tuple[str, ...]:
    """Returns C++ names for the parameters: the schema's names, with a `_` if C++ uses the name otherwise."""
    given = [argument.name for argument in function.arguments]
    names: list[str] = []
    for i, name in enumerate(given):
        names.append(cpp_names.free(name, {*names, *given[i + 1 :]}))
    return tuple(names)


def return_type(function: schema.FunctionSchema, dialect: Dialect = Dialect.EXECUTORCH) -> str:
    types = []
    for returned in function.returns:
        type_ = cpp_type(returned.type, dialect)
        name = type_.name if type_ else str(returned.type)
        types.append(f"{name}&" if returned.is_written else name)
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def unboxed(argument: schema.Argument) -> tuple[str, str]:
    """Returns the type of a variable for an argument, and the call that reads the value from an EValue.

    The spelling of both needs `executorch::aten` in scope.
    """
    name = _unqualified(argument.type)
    if isinstance(argument.type, schema.OptionalType):
        return f"const {name}", f"toOptional<{name.removeprefix('std::optional<').removesuffix('>')}>()"
    if str(argument.type) == "Tensor":
        # A reference to the program's tensor, since an operator may write to the tensor.
        return "Tensor&" if argument.is_written else "const Tensor&", "to<Tensor>()"
    return f"const {name}", f"to<{name}>()"


def _unqualified(type_: schema.Type) -> str:
    in_cpp = cpp_type(type_)
    assert in_cpp is not None, f"{type_} was let through by unsupported()"
    return in_cpp.name.replace(_OF_EXECUTORCH, "")


def readable(demangled: str) -> str:
    """Returns a demangled parameter list in the spelling of source code."""
    base_types = (row.executorch for name, row in schema_types.TYPES.items() if name in schema_types.BASE_TYPES)
    for type_ in filter(None, base_types):
        demangled = re.sub(rf"(?<![\w:]){re.escape(type_.demangled)}\b(?<!unsigned long)", type_.name, demangled)
    demangled = demangled.replace("executorch::runtime::ArrayRef<", "executorch::aten::ArrayRef<")
    return re.sub(r"([\w:]+(?:<.*?>+)?) const&", r"const \1&", demangled)


def wrapper_name(function: schema.FunctionSchema) -> str:
    """Returns the name of the operator's typed function in Functions.h, as in ExecuTorch."""
    return f"{function.name.name}_outf" if function.out else cpp_names.free(function.name.name)


def unsupported(
    function: schema.FunctionSchema, location: Location, dialect: Dialect = Dialect.EXECUTORCH
) -> list[Finding]:
    """Returns findings for the types of a schema that kernels do not support."""
    findings = [
        Finding(
            id="unsupported-type",
            where=location,
            found=f"the argument '{argument}' of {function.name} has a type that ExecuTorch's runtime has no value for",
            cause="the schema is of an operator that runs in PyTorch only",
            fix=f"use {_supported(dialect)}, or an optional of one of these",
        )
        for argument in function.arguments
        if cpp_type(argument.type, dialect) is None or (argument.is_written and not _is_writable(argument.type))
    ]
    if function.out:
        return findings
    if function.returns and not _is_returnable(function.returns):
        returned = ", ".join(str(r.type) for r in function.returns)
        findings.append(
            Finding(
                id="unsupported-return",
                where=location,
                found=f"{function.name} has no out argument and returns {returned}",
                cause="a program holds one value for what an operator returns, and that is a Tensor or a number",
                fix="add an out argument for each result: '*, Tensor(a!) out) -> Tensor(a!)'",
            )
        )
    elif dialect is Dialect.ATEN and any(not r.is_written and str(r.type) == "Tensor" for r in function.returns):
        findings.append(
            Finding(
                id="unsupported-return",
                where=location,
                found=f"{function.name} returns a new Tensor, and its kernel takes PyTorch's tensors",
                cause="what PyTorch allocates is freed after the call, and a program's tensors have memory of their "
                "own",
                fix="add an out argument: '*, Tensor(a!) out) -> Tensor(a!)'",
            )
        )
    return findings


def _supported(dialect: Dialect) -> str:
    """Returns the types that a kernel of the dialect can take, for messages."""
    return ", ".join(name for name, row in schema_types.TYPES.items() if row.cpp_type(dialect) is not None)


def _is_writable(type_: schema.Type) -> bool:
    return str(type_) == "Tensor" or (isinstance(type_, schema.ListType) and str(type_.element) == "Tensor")


def _is_returnable(returns: tuple[schema.Return, ...]) -> bool:
    return len(returns) == 1 and schema_types.find(str(returns[0].type)).is_returned


def _types(function: schema.FunctionSchema, dialect: Dialect) -> Iterator[tuple[CppType, bool]]:
    """Yields each argument's type, and whether the argument is a non-const reference."""
    for argument in function.arguments:
        type_ = cpp_type(argument.type, dialect)
        assert type_ is not None, f"{argument} was let through by unsupported()"
        # A list is passed by value, also if the kernel writes to the list's tensors.
        yield type_, argument.is_written and isinstance(argument.type, schema.BaseType)
