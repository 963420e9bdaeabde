"""The text of the generated C++ files. Reads nothing and decides nothing: it renders operators that were checked.

The output reads as if written by hand: clang-format with Google's style and 120 columns leaves it as it is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from codegen import schema, signatures
from codegen.operator_table import Operator

_COLUMNS = 120
# What clang-format's line breaks cost with Google's style: after a comma or the parenthesis of a call; before the
# parameters of a declaration; after its return type; and each column beyond the last.
_BREAK = 41
_BREAK_BEFORE_PARAMETERS = 140
_BREAK_AFTER_RETURN_TYPE = 200
_EXCESS = 1000000


@dataclass(frozen=True, slots=True)
class Source:
    """What the files are made from, for their header comments: a label and the short names of the YAML files."""

    label: str
    yaml_names: tuple[str, ...]

    def header(self, what: str) -> str:
        yaml_names = " and ".join(self.yaml_names)
        return _comment(f"{what} of {self.label}.") + _comment(f"Generated from {yaml_names}; do not edit.")


def registration(source: Source, operators: Sequence[Operator], native_functions: str) -> str:
    """RegisterKernels.cpp: unboxes each operator's values and calls its kernel; registers all at program start.

    Args:
        source: what the file is made from.
        operators: the operators to register, in the order of the output.
        native_functions: how to include NativeFunctions.h.
    """
    header = source.header("Registers the kernels")
    if not operators:
        return header + _comment("No operator is selected, so there is nothing to register.")
    functions = _boxed_names(operators)
    boxed = [_boxed(operator, function) for operator, function in zip(operators, functions, strict=True)]
    body = "".join(boxed)
    types = " ".join(type_ for operator in operators for type_ in signatures.parameter_types(operator.schema))
    used = sorted(set(re.findall(r"executorch::aten::(\w+)", types)))
    table = "".join(
        f'    Kernel("{operator.name}", {function}),\n' for operator, function in zip(operators, functions, strict=True)
    )
    message = f'"cannot register the %zu kernels of {source.label}: error 0x%x"'
    values = ["error == Error::Ok", message, "std::size(kKernels)", "static_cast<unsigned>(error)"]
    check = "\n".join(_call("  ET_CHECK_MSG(", values, ");"))
    return f"""{header}
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/profiler.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "{native_functions}"

namespace {{

{"".join(f"using executorch::aten::{name};{chr(10)}" for name in used)}\
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;
using executorch::runtime::internal::event_tracer_log_evalue;
using executorch::runtime::internal::EventTracerProfileOpScope;

// Whether a call has as many values as the operator's schema has arguments, plus one for what it returns. If not, the
// program was exported with another schema, and the call fails.
bool has_values(KernelRuntimeContext& context, const char* name, Span<EValue*> stack, size_t expected) {{
  ET_KERNEL_CHECK_MSG(context, stack.size() == expected, InvalidProgram, false, "%s takes %zu values, not %zu", name,
                      expected, stack.size());
  return true;
}}

{body}\
const Kernel kKernels[] = {{
{table}}};

// Runs before main(). The runtime itself ends the program if an operator is registered twice.
[[maybe_unused]] const bool kRegistered = [] {{
  const Error error = executorch::runtime::register_kernels({{kKernels, std::size(kKernels)}});
{check}
  return true;
}}();

}}  // namespace
"""


def native_functions(source: Source, operators: Sequence[Operator]) -> str:
    """NativeFunctions.h: declares each kernel with and without the context, of which a library defines either."""
    blocks = "".join(
        _namespace(namespace, "\n".join(_declarations(group))) for namespace, group in _by_namespace(operators)
    )
    return f"""{source.header("Declares the kernels")}
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
{blocks}"""


def functions(source: Source, operators: Sequence[Operator], native_functions: str) -> str:
    """Functions.h: each operator as a typed function, `torch::executor::<operator's namespace>::<name>_outf`."""
    groups: dict[str, list[Operator]] = {}
    for operator in operators:
        groups.setdefault(_wrapper_namespace(operator.schema), []).append(operator)
    blocks = "".join(_namespace(namespace, "\n".join(_wrappers(group))) for namespace, group in sorted(groups.items()))
    return f"""{source.header("Declares the operators as C++ functions")}
#pragma once

#include "{native_functions}"
{blocks}"""


def adapters(source: Source, operators: Sequence[Operator]) -> str:
    """KernelAdapters.cpp: the overload with a context of each kernel that is defined only without one."""
    header = source.header("Adapts the kernels without a context")
    if not operators:
        return header + _comment("Every kernel takes a context, so there is nothing to adapt.")
    blocks = "".join(
        _namespace(namespace, "\n".join(_adapters(group))) for namespace, group in _by_namespace(operators)
    )
    return f"""{header}
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/compiler.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
{blocks}"""


def kernel_signature(function: schema.FunctionSchema, name: str, with_context: bool) -> str:
    """The declaration of a kernel on one line, as a user would write it."""
    return f"{signatures.return_type(function)} {name}({', '.join(_parameters(function, with_context))})"


def _boxed_names(operators: Iterable[Operator]) -> list[str]:
    """A function's name for each operator, such as `aten_add_out`, made unique where two would be the same."""
    names: dict[str, None] = {}
    for operator in operators:
        name = str(operator.schema.name).replace("::", "_").replace(".", "_").lstrip("_")
        while name in names:
            name += "_"
        names[name] = None
    return list(names)


@functools.cache
def _boxed(operator: Operator, function_name: str) -> str:
    function = operator.schema
    names = signatures.parameter_names(function)
    lines = [
        *_comment_lines(str(function)),
        f"void {function_name}(KernelRuntimeContext& context, Span<EValue*> stack) {{",
        f'  if (!has_values(context, "{operator.name}", stack, {len(names) + 1})) return;',
    ]
    for i, (argument, name) in enumerate(zip(function.arguments, names, strict=True)):
        lines.append(f"  {_unboxed(argument, name, f'stack[{i}]')}")
    traced = f'"native_call_{function.name.unqualified}"'
    lines += _call(
        "  EventTracerProfileOpScope event_tracer_op_scope(", ["context.internal_event_tracer()", traced], ");"
    )
    lines.append(f"  EXECUTORCH_SCOPE_PROF({traced});")
    if function.out:
        lines += _call(f"  {operator.kernel}(", ["context", *names], ");")
        first_out = len(names) - len(function.out)
        logged = range(first_out, len(names))
    else:
        result = "auto&" if function.returns[0].alias is not None else "const auto"
        lines += _call(f"  {result} result = {operator.kernel}(", ["context", *names], ");")
        lines.append(f"  *stack[{len(names)}] = EValue(result);")
        logged = range(len(names), len(names) + 1)
    lines += [f"  event_tracer_log_evalue(context.internal_event_tracer(), *stack[{i}]);" for i in logged]
    return "\n".join([*lines, "}", "", ""])


def _unboxed(argument: schema.Argument, name: str, value: str) -> str:
    """The statement that reads a call's value as a kernel's parameter."""
    type_ = argument.type
    cpp_type = signatures.cpp_type(type_)
    assert cpp_type is not None
    short = cpp_type.name.replace("executorch::aten::", "")
    if isinstance(type_, schema.OptionalType):
        element = short.removeprefix("std::optional<").removesuffix(">")
        return f"const {short} {name} = {value}->toOptional<{element}>();"
    if short == "Tensor":
        return f"{'' if argument.is_written else 'const '}Tensor& {name} = {value}->to<Tensor>();"
    return f"const {short} {name} = {value}->to<{short}>();"


def _declarations(operators: Sequence[Operator]) -> Iterator[str]:
    """Each kernel of one namespace in both forms, under the operators that it computes."""
    kernels: dict[tuple[str, tuple[str, ...]], list[Operator]] = {}
    for operator in operators:
        key = (operator.kernel, signatures.parameter_types(operator.schema))
        kernels.setdefault(key, []).append(operator)
    for users in kernels.values():
        comments = [line for operator in users for line in _comment_lines(str(operator.schema))]
        yield "\n".join([*comments, *_declaration(users[0], False), *_declaration(users[0], True), ""])


@functools.cache
def _declaration(operator: Operator, with_context: bool) -> list[str]:
    namespace, _, kernel = operator.kernel.rpartition("::")
    parameters = _parameters(operator.schema, with_context, namespace)
    return _declare(_return_type(operator.schema, namespace), kernel, parameters, ");")


def _parameters(function: schema.FunctionSchema, with_context: bool, namespace: str = "") -> list[str]:
    types, names = signatures.parameter_types(function), signatures.parameter_names(function)
    if with_context:
        types, names = (f"{signatures.CONTEXT}&", *types), ("context", *names)
    return [f"{_spelled(type_, namespace)} {name}" for type_, name in zip(types, names, strict=True)]


def _return_type(function: schema.FunctionSchema, namespace: str) -> str:
    return _spelled(signatures.return_type(function), namespace)


@functools.cache
def _spelled(types: str, namespace: str) -> str:
    """Types as they are spelled in a namespace."""
    parts = namespace.split("::")
    if parts[:2] == ["torch", "executor"]:
        # ExecuTorch has all of its types in this namespace too.
        types = re.sub(r"executorch::(?:aten|runtime)::", "", types)
    hidden = {"executorch", "std"}.intersection(parts[1:])
    return re.sub(rf"\b(?<!::)({'|'.join(hidden)})::", r"::\1::", types) if hidden else types


def _wrapper_namespace(function: schema.FunctionSchema) -> str:
    return f"torch::executor::{function.name.namespace}"


def _wrappers(operators: Sequence[Operator]) -> Iterator[str]:
    """The typed functions of one namespace's operators."""
    first_users: dict[tuple[str, tuple[str, ...]], Operator] = {}
    for operator in operators:
        function = operator.schema
        key = (signatures.wrapper_name(function), signatures.parameter_types(function))
        first = first_users.setdefault(key, operator)
        if first is not operator:
            note = f"The same function as that of {first.name} in C++; call its kernel {operator.kernel} instead."
            yield "\n".join([*_comment_lines(str(function)), *_comment_lines(note), ""])
            continue
        yield _wrapper(operator)


@functools.cache
def _wrapper(operator: Operator) -> str:
    function = operator.schema
    namespace = _wrapper_namespace(function)
    parameters = _parameters(function, True, namespace)
    head = _declare(f"inline {_return_type(function, namespace)}", signatures.wrapper_name(function), parameters, ") {")
    names = ["context", *signatures.parameter_names(function)]
    body = _call(f"  return ::{operator.kernel}(", names, ");")
    return "\n".join([*_comment_lines(str(function)), *_define(head, body), ""])


def _adapters(operators: Sequence[Operator]) -> Iterator[str]:
    for operator in operators:
        function = operator.schema
        namespace, _, kernel = operator.kernel.rpartition("::")
        context = _spelled(f"{signatures.CONTEXT}&", namespace)
        parameters = [context, *_parameters(function, False, namespace)]
        head = _declare(f"ET_WEAK {_return_type(function, namespace)}", kernel, parameters, ") {")
        body = _call(f"  return {kernel}(", signatures.parameter_names(function), ");")
        comment = _comment_lines(str(function))
        yield "\n".join([*comment, *_declaration(operator, False), *_define(head, body), ""])


def _by_namespace(operators: Iterable[Operator]) -> list[tuple[str, list[Operator]]]:
    """The operators by the namespaces of their kernels."""
    groups: dict[str, list[Operator]] = {}
    for operator in operators:
        groups.setdefault(operator.kernel.rpartition("::")[0], []).append(operator)
    return sorted(groups.items())


def _namespace(name: str, content: str) -> str:
    return f"\nnamespace {name} {{\n\n{content}\n}}  // namespace {name}\n"


def _call(head: str, arguments: Sequence[str], tail: str) -> list[str]:
    """A call: `head` with the arguments behind its open parenthesis and `tail` after them, broken into lines."""
    filled = _fill(head, arguments, tail)
    if len(filled) == 1 and len(filled[0]) <= _COLUMNS:
        return filled
    return _cheapest([(0, filled), (_BREAK, _fill_below(head, arguments, tail))])


def _declare(return_type: str, name: str, parameters: Sequence[str], tail: str) -> list[str]:
    """A function's head, broken into lines."""
    head = f"{return_type} {name}("
    filled = _fill(head, parameters, tail)
    if len(filled) == 1 and len(filled[0]) <= _COLUMNS:
        return filled
    return _cheapest(
        [
            (0, filled),
            (_BREAK_BEFORE_PARAMETERS, _fill_below(head, parameters, tail)),
            (_BREAK_AFTER_RETURN_TYPE, [return_type, *_fill(f"{name}(", parameters, tail)]),
            (
                _BREAK_AFTER_RETURN_TYPE + _BREAK_BEFORE_PARAMETERS,
                [return_type, *_fill_below(f"{name}(", parameters, tail)],
            ),
        ]
    )


def _define(head: Sequence[str], body: Sequence[str]) -> list[str]:
    """A function, on one line where that fits."""
    if len(head) == len(body) == 1:
        line = f"{head[0]} {body[0].strip()} }}"
        if len(line) <= _COLUMNS:
            return [line]
    return [*head, *body, "}"]


def _cheapest(layouts: Sequence[tuple[int, list[str]]]) -> list[str]:
    """Of layouts with their cost beside that of breaks after commas, the cheapest, as clang-format counts."""

    def cost(layout: tuple[int, list[str]]) -> int:
        extra, lines = layout
        breaks = len(lines) - 1 - (extra > 0) - (extra > _BREAK_AFTER_RETURN_TYPE)
        too_long = sum(max(0, len(line) - _COLUMNS) for line in lines)
        return extra + _BREAK * breaks + _EXCESS * too_long

    return min(layouts, key=cost)[1]


def _fill_below(head: str, arguments: Sequence[str], tail: str) -> list[str]:
    """`head` on a line of its own, and the arguments on the next ones."""
    return [head, *_fill(" " * (len(head) - len(head.lstrip()) + 4), arguments, tail)]


def _fill(start: str, words: Sequence[str], tail: str) -> list[str]:
    """Puts as many comma-separated words on each line as fit, below the end of `start`."""
    lines = [start]
    for i, word in enumerate(words):
        text = word + ("," if i + 1 < len(words) else tail)
        if i == 0:
            lines[-1] += text
        elif len(lines[-1]) + 1 + len(text) <= _COLUMNS:
            lines[-1] += f" {text}"
        else:
            lines.append(" " * len(start) + text)
    if not words:
        lines[-1] += tail
    return lines


def _comment(text: str) -> str:
    return "".join(f"{line}\n" for line in _comment_lines(text))


def _comment_lines(text: str) -> list[str]:
    lines = ["//"]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > _COLUMNS and lines[-1] != "//":
            lines.append("//")
        lines[-1] += f" {word}"
    return lines
