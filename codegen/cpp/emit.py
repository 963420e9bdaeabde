"""The text of the generated C++ files. Reads nothing and decides nothing: it renders operators that were checked.

The output reads as if written by hand: clang-format with Google's style and 120 columns leaves it as it is.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.model import aten_kernels, kernel_keys, schema, signatures, torch_schemas
from codegen.model.operators import REGISTERED_NAMESPACE, Kernel, Operator
from codegen.model.schema_types import Dialect

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

    @property
    def library(self) -> str:
        """The name of the label's target as a C++ name."""
        return re.sub(r"\W", "_", self.label.rpartition(":")[2])

    @property
    def namespace(self) -> str:
        """Of what only the library's own files call; the checksum keeps apart libraries of one name in two packages."""
        return f"{self.library}_{zlib.crc32(self.label.encode()):08x}"

    def header(self, what: str) -> str:
        yaml_names = " and ".join(self.yaml_names)
        return _comment(f"{what} of {self.label}.") + _comment(f"Generated from {yaml_names}; do not edit.")


@dataclass(frozen=True, slots=True)
class Boxed:
    """A kernel behind a function that the runtime can call, which unboxes the values of a call."""

    function: str
    operator: Operator
    kernel: Kernel

    @property
    def takes_aten_tensors(self) -> bool:
        """Whether it is a YAML's kernel with PyTorch's tensors."""
        return self.kernel.is_aten and self.kernel.function != aten_kernels.FUNCTION


def boxed_kernels(operators: Iterable[Operator]) -> list[Boxed]:
    """The kernels of operators with names for their functions: `aten_add_out`, `aten_add_out_by_fast_add_out`."""
    named: dict[str, Boxed] = {}
    for operator in operators:
        functions = {kernel.function: kernel for kernel in operator.kernels}
        for kernel in functions.values():
            name = str(operator.name)
            if len(functions) > 1:
                name += "_by_" + kernel.function.replace("::native::", "::")
            name = re.sub(r"\W+", "_", name).lstrip("_")
            while name in named:
                name += "_"
            named[name] = Boxed(name, operator, kernel)
    return list(named.values())


def boxed(source: Source, kernels: Sequence[Boxed], native_functions: str) -> str:
    """BoxedKernels.cpp, one of several: unboxes the values of calls for some kernels.

    Args:
        source: what the file is made from.
        kernels: the kernels, in the order of the output.
        native_functions: how to include NativeFunctions.h.
    """
    unboxed = [kernel for kernel in kernels if not kernel.kernel.is_aten]
    types = " ".join(type_ for kernel in unboxed for type_ in signatures.parameter_types(kernel.operator.schema))
    used = sorted(set(re.findall(r"executorch::aten::(\w+)", types)))
    body = "".join(_boxed_aten(kernel, source) if kernel.kernel.is_aten else _boxed(kernel) for kernel in kernels)
    own_includes = [native_functions, *([_ATEN_OPERATOR] if len(unboxed) < len(kernels) else [])]
    return f"""{source.header("Calls the kernels with a program's values, for some operators")}
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/profiler.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

{"".join(f'#include "{path}"{chr(10)}' for path in own_includes)}
namespace {source.namespace} {{
namespace {{

{"".join(f"using executorch::aten::{name};{chr(10)}" for name in used)}\
{_USED_BY_BOXED}{_HAS_VALUES if unboxed else ""}
}}  // namespace

{body}\
}}  // namespace {source.namespace}
"""


_USED_BY_BOXED = """\
using executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
using executorch::ET_RUNTIME_NAMESPACE::internal::event_tracer_log_evalue;
using executorch::ET_RUNTIME_NAMESPACE::internal::EventTracerProfileOpScope;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Span;
"""

_ATEN_OPERATOR = "runtime/aten/aten_operator.h"

_HAS_VALUES = """
// Whether a call has as many values as the operator's schema has arguments, plus one for what it returns. If not, the
// program was exported with another schema, and the call fails.
bool has_values(KernelRuntimeContext& context, const char* name, Span<EValue*> stack, size_t expected) {
  ET_KERNEL_CHECK_MSG(context, stack.size() == expected, InvalidProgram, false, "%s takes %zu values, not %zu", name,
                      expected, stack.size());
  return true;
}
"""


def boxed_aten(source: Source, kernels: Sequence[Boxed]) -> str:
    """AtenKernels.cpp: calls the kernels that take PyTorch's tensors, by PyTorch's dispatcher.

    Args:
        source: what the file is made from.
        kernels: the kernels that take PyTorch's tensors.
    """
    header = source.header("Calls the kernels that take PyTorch's tensors")
    if not kernels:
        return header + _comment("No operator that is selected has one.")
    blocks: dict[str, list[str]] = {}
    for kernel in kernels:
        namespace, _, name = kernel.kernel.function.rpartition("::")
        blocks.setdefault(namespace, []).append("\n".join([*_aten_declaration(kernel, name, ");"), ""]))
    declarations = "".join(_namespace(name, "\n".join(dict.fromkeys(block))) for name, block in sorted(blocks.items()))
    definitions = "".join(
        "\n".join(_call("  library.def(", [f'"{_dispatched_schema(kernel)}"', _aten_pointer(kernel)], ");")) + "\n"
        for kernel in kernels
    )
    return f"""{header}
#include <ATen/core/Tensor.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/profiler.h>
#include <torch/library.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include "{_ATEN_OPERATOR}"
{declarations}
// By names that PyTorch does not have, so that it can have the operators, too.
TORCH_LIBRARY_FRAGMENT({source.namespace}, library) {{
{definitions}}}

namespace {source.namespace} {{
namespace {{

{_USED_BY_BOXED}
}}  // namespace

{"".join(_boxed_aten(kernel, source) for kernel in kernels)}\
}}  // namespace {source.namespace}
"""


def kernel_table(source: Source, kernels: Sequence[Boxed], manual: bool, exception_boundary: bool) -> str:
    """KernelTable.cpp: the table of the kernels that the runtime looks them up in.

    Args:
        source: what the file is made from.
        kernels: the kernels.
        manual: whether the program's own code may ask for the table.
        exception_boundary: whether what a kernel throws becomes the call's failure.
    """
    table = "".join(entry for kernel in kernels for entry in _table_entries(kernel, exception_boundary))
    declarations = "".join(
        f"void {kernel.function}(KernelRuntimeContext& context, Span<EValue*> stack);\n" for kernel in kernels
    )
    accessor = f"{source.library}_kernels" if manual else "kernels"
    body = f"""\
using executorch::ET_RUNTIME_NAMESPACE::Kernel;
using executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
using executorch::runtime::EValue;
using executorch::runtime::Span;

// In BoxedKernels<n>.cpp.
{declarations}
namespace {{
{_GUARD if exception_boundary else ""}
constexpr Kernel kKernels[] = {{
{table}}};

}}  // namespace
"""
    content = "{kKernels, std::size(kKernels)}"
    if not kernels:
        body = _comment("No operator is selected.") + "using executorch::ET_RUNTIME_NAMESPACE::Kernel;\n"
        body += "using executorch::runtime::Span;\n"
        content = "{}"
    includes = ["core/evalue.h", "kernel/kernel_runtime_context.h", "kernel/operator_registry.h", "platform/log.h"]
    include_lines = "".join(f"#include <executorch/runtime/{path}>\n" for path in includes)
    own_function = f"\nSpan<const Kernel> kernels() {{ return {content}; }}\n"
    public_function = ""
    if manual:
        public_function = f"""
namespace torch::executor {{

executorch::runtime::Span<const executorch::ET_RUNTIME_NAMESPACE::Kernel> {accessor}() {{
  return {source.namespace}::kernels();
}}

}}  // namespace torch::executor
"""
    return f"""{source.header("The table of the kernels")}
{include_lines}
#include <exception>
#include <iterator>

namespace {source.namespace} {{

{body}{own_function}
}}  // namespace {source.namespace}
{public_function}"""


_GUARD = """
using executorch::ET_RUNTIME_NAMESPACE::OpFunction;
using executorch::runtime::Error;

// Where a kernel, or a value that it cannot be called with, throws, the call fails.
void call_guarded(OpFunction kernel, KernelRuntimeContext& context, Span<EValue*> stack) {
#ifdef __cpp_exceptions
  try {
    kernel(context, stack);
  } catch (const std::exception& error) {
    ET_LOG(Error, "a kernel threw an exception: %s", error.what());
    context.fail(Error::Internal);
  } catch (...) {
    ET_LOG(Error, "a kernel threw something that is no std::exception");
    context.fail(Error::Internal);
  }
#else
  kernel(context, stack);
#endif
}

template <OpFunction kKernel>
void guarded(KernelRuntimeContext& context, Span<EValue*> stack) {
  call_guarded(kKernel, context, stack);
}
"""


def registration(source: Source, kernels: Sequence[Boxed]) -> str:
    """RegisterKernels.cpp: registers the table at program start."""
    header = source.header("Registers the kernels")
    if not kernels:
        return header + _comment("No operator is selected, so there is nothing to register.")
    message = f'"cannot register the %zu kernels of {source.label}: error 0x%x"'
    values = ["error == Error::Ok", message, "kernels().size()", "static_cast<unsigned>(error)"]
    check = "\n".join(_call("  ET_CHECK_MSG(", values, ");"))
    return f"""{header}
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/assert.h>

{_registered_names(kernels)}
namespace {source.namespace} {{

using executorch::ET_RUNTIME_NAMESPACE::Kernel;
using executorch::runtime::Error;
using executorch::runtime::Span;

// In KernelTable.cpp.
Span<const Kernel> kernels();

namespace {{

// Runs before main(), in whatever order: the registry and the table are there from the start.
[[maybe_unused]] const bool kRegistered = [] {{
  const Error error = executorch::ET_RUNTIME_NAMESPACE::register_kernels(kernels());
{check}
  return true;
}}();

}}  // namespace
}}  // namespace {source.namespace}
"""


def manual_registration(source: Source, kernels: Sequence[Boxed], header: str) -> str:
    """RegisterKernels.cpp of a library that registers nothing by itself."""
    return f"""{source.header("Registers the kernels on request")}
#include "{header}"

{_registered_names(kernels)}
namespace torch::executor {{

executorch::runtime::Error register_{source.library}_kernels() {{
  return executorch::ET_RUNTIME_NAMESPACE::register_kernels({source.library}_kernels());
}}

}}  // namespace torch::executor
"""


def registration_header(source: Source) -> str:
    """RegisterKernels.h of a library that registers nothing by itself."""
    return f"""{source.header("Gives the kernels to register, or to load a method with,")}
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace torch::executor {{

// Registers the kernels for every program. A second call, or another library that registers one of them, ends the
// program.
executorch::runtime::Error register_{source.library}_kernels();

// The kernels, for `kernel_registry` of Module::load_method() and Program::load_method(): one method then uses them,
// and nothing is registered.
executorch::runtime::Span<const executorch::ET_RUNTIME_NAMESPACE::Kernel> {source.library}_kernels();

}}  // namespace torch::executor
"""


def torch_operators(source: Source, operators: Sequence[Operator]) -> str:
    """TorchOperators.cpp: has PyTorch define operators when the library is loaded. Includes nothing of PyTorch."""
    defined = {operator.name for operator in operators}
    entries = []
    for operator in operators:
        functional = torch_schemas.functional(operator.schema)
        derived = functional if functional and str(functional.name) not in defined else None
        fields = [
            _quoted(operator.schema.name.namespace),
            _quoted(torch_schemas.unqualified(operator.schema)),
            _quoted(torch_schemas.unqualified(derived)) if derived else "nullptr",
            _quoted(f"{Path(operator.location.path).name}:{operator.location.line}"),
        ]
        entries.append("    {" + ",\n     ".join(fields) + "},\n")
    return f"""{source.header("The operators for PyTorch")}
#include "runtime/torch/torch_operators.h"

#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <iterator>

namespace {source.namespace} {{

using executorch::runtime::Kernel;
using executorch::runtime::Span;
using rules_executorch::TorchOperator;

// In KernelTable.cpp.
Span<const Kernel> kernels();

namespace {{

// clang-format off
constexpr TorchOperator kOperators[] = {{
{"".join(entries)}}};
// clang-format on

[[maybe_unused]] const bool kDefined =
    rules_executorch::DefineTorchOperators({{kOperators, std::size(kOperators)}}, kernels());

}}  // namespace
}}  // namespace {source.namespace}
"""


def registered_name(operator: str, key: str) -> str:
    """What a library defines for a kernel that it registers: `aten__add__out__for_any`."""
    key = "any" if key == kernel_keys.DEFAULT else key.removeprefix("v1/").replace("|", "__")
    name = operator.replace("::", "__").replace(".", "__")  # `add.out` is another operator than `add_out`
    return re.sub(r"\W", "_", f"{name}__for_{key}")


def _registered_names(kernels: Sequence[Boxed]) -> str:
    names = "".join(
        f"char {registered_name(boxed.operator.name, key)};\n"
        for boxed in kernels
        for kernel in boxed.operator.kernels
        if kernel.function == boxed.kernel.function
        for key in kernel.keys
    )
    return f"""\
// Another library that registers one of these kernels defines the same name, so that no binary links with both.
namespace {REGISTERED_NAMESPACE} {{

{names}
}}  // namespace {REGISTERED_NAMESPACE}
"""


def _table_entries(boxed: Boxed, exception_boundary: bool) -> Iterator[str]:
    function = f"guarded<{boxed.function}>" if exception_boundary else boxed.function
    for kernel in boxed.operator.kernels:
        if kernel.function != boxed.kernel.function:
            continue
        for key in kernel.keys:
            quoted = [] if key == kernel_keys.DEFAULT else [f'"{key}"']
            yield "\n".join(_call("    Kernel(", [f'"{boxed.operator.name}"', *quoted, function], "),")) + "\n"


def native_functions(source: Source, operators: Sequence[Operator]) -> str:
    """NativeFunctions.h: declares each kernel with and without the context, of which a library defines either."""
    kernels = [
        (name, operator)
        for operator in operators
        for name in dict.fromkeys(kernel.function for kernel in operator.kernels if not kernel.is_aten)
    ]
    blocks = "".join(
        _namespace(namespace, "\n".join(_declarations(group))) for namespace, group in _by_namespace(kernels)
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


def adapters(source: Source, kernels: Sequence[tuple[str, Operator]]) -> str:
    """KernelAdapters.cpp: the overload with a context of each kernel that is defined only without one.

    Args:
        source: what the file is made from.
        kernels: the kernels' C++ names, each with an operator that it computes.
    """
    header = source.header("Adapts the kernels without a context")
    if not kernels:
        return header + _comment("Every kernel takes a context, so there is nothing to adapt.")
    blocks = "".join(_namespace(namespace, "\n".join(_adapters(group))) for namespace, group in _by_namespace(kernels))
    return f"""{header}
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/compiler.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
{blocks}"""


@functools.cache
def _boxed(boxed: Boxed) -> str:
    operator, kernel = boxed.operator, boxed.kernel.function
    function = operator.schema
    names = signatures.parameter_names(function)
    # A program may have a value for nothing, or none.
    or_without_slot = f"stack.size() != {len(names)} && " if function.gives_nothing else ""
    lines = [
        *_comment_lines(str(function)),
        f"void {boxed.function}(KernelRuntimeContext& context, Span<EValue*> stack) {{",
        f'  if ({or_without_slot}!has_values(context, "{operator.name}", stack, {len(names) + 1})) return;',
    ]
    for i, (argument, name) in enumerate(zip(function.arguments, names, strict=True)):
        lines.append(f"  {_unboxed(argument, name, f'stack[{i}]')}")
    lines += _profiled(function)
    if function.out or function.gives_nothing:
        lines += _call(f"  {kernel}(", ["context", *names], ");")
        written = function.out or [argument for argument in function.arguments if argument.is_written]
        logged = [i for i, argument in enumerate(function.arguments) if argument in written]
    else:
        result = "auto&" if function.returns[0].is_written else "const auto"
        lines += _call(f"  {result} result = {kernel}(", ["context", *names], ");")
        lines.append(f"  *stack[{len(names)}] = EValue(result);")
        logged = [len(names)]
    lines += [f"  event_tracer_log_evalue(context.internal_event_tracer(), *stack[{i}]);" for i in logged]
    return "\n".join([*lines, "}", "", ""])


@functools.cache
def _boxed_aten(boxed: Boxed, source: Source) -> str:
    function = boxed.operator.schema
    dispatched = [f'"{function.name.namespace}::{function.name.name}"', f'"{function.name.overload}"']
    if boxed.takes_aten_tensors:
        dispatched = [f'"{source.namespace}::{boxed.function}"', '""']
    lines = [
        *_comment_lines(str(function)),
        f"void {boxed.function}(KernelRuntimeContext& context, Span<EValue*> stack) {{",
        *_call(
            "  static const rules_executorch::ET_RUNTIME_NAMESPACE::AtenOperator aten_operator(",
            [f'"{function.name}"', *dispatched],
            ");",
        ),
        *_profiled(function),
        "  aten_operator.Call(context, stack);",
    ]
    written = [i for i, argument in enumerate(function.arguments) if argument in function.out or argument.is_written]
    lines.append("  if (context.failure_state() != Error::Ok) return;")
    lines += [f"  event_tracer_log_evalue(context.internal_event_tracer(), *stack[{i}]);" for i in written]
    return "\n".join([*lines, "}", "", ""])


def _profiled(function: schema.FunctionSchema) -> list[str]:
    """The statements that tell a profiler of a call."""
    traced = f'"native_call_{function.name.unqualified}"'
    scope = _call(
        "  EventTracerProfileOpScope event_tracer_op_scope(", ["context.internal_event_tracer()", traced], ");"
    )
    return [*scope, f"  EXECUTORCH_SCOPE_PROF({traced});"]


def _aten_declaration(boxed: Boxed, name: str, tail: str) -> list[str]:
    function = boxed.operator.schema
    return _declare(signatures.return_type(function, Dialect.ATEN), name, _aten_parameters(function), tail)


def _aten_parameters(function: schema.FunctionSchema) -> list[str]:
    types, names = signatures.parameter_types(function, Dialect.ATEN), signatures.parameter_names(function)
    return [f"{type_} {name}" for type_, name in zip(types, names, strict=True)]


def _aten_pointer(boxed: Boxed) -> str:
    """The kernel, of which there may be overloads."""
    function = boxed.operator.schema
    types = ", ".join(signatures.parameter_types(function, Dialect.ATEN))
    return f"static_cast<{signatures.return_type(function, Dialect.ATEN)} (*)({types})>({boxed.kernel.function})"


def _dispatched_schema(boxed: Boxed) -> str:
    """The schema under the name that the library gives PyTorch's dispatcher."""
    text = str(boxed.operator.schema).removeprefix(str(boxed.operator.name))
    return (boxed.function + text).replace('"', '\\"')


def _unboxed(argument: schema.Argument, name: str, value: str) -> str:
    """The statement that reads a call's value as a kernel's parameter."""
    type_, read = signatures.unboxed(argument)
    return f"{type_} {name} = {value}->{read};"


def _declarations(kernels: Sequence[tuple[str, Operator]]) -> Iterator[str]:
    """Each kernel of one namespace in both forms, under the operators that it computes."""
    declared: dict[tuple[str, tuple[str, ...]], list[Operator]] = {}
    for name, operator in kernels:
        declared.setdefault((name, signatures.parameter_types(operator.schema)), []).append(operator)
    for (name, _), users in declared.items():
        comments = [line for operator in users for line in _comment_lines(str(operator.schema))]
        yield "\n".join([*comments, *_declaration(name, users[0], False), *_declaration(name, users[0], True), ""])


@functools.cache
def _declaration(name: str, operator: Operator, with_context: bool) -> list[str]:
    namespace, _, kernel = name.rpartition("::")
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
        default = operator.default
        first = operator
        if default is not None and not default.is_aten:
            key = (signatures.wrapper_name(function), signatures.parameter_types(function))
            first = first_users.setdefault(key, operator)
        if default is not None and default.is_aten:
            note = "Its kernel takes tensors of PyTorch; call the operator in PyTorch's namespace instead."
        elif default is None:
            note = "Has no kernel for every dtype and dim order; call one of its kernels instead."
        else:
            note = f"The same function as that of {first.name} in C++; call its kernel {default.function} instead."
        if default is None or default.is_aten or first is not operator:
            yield "\n".join([*_comment_lines(str(function)), *_comment_lines(note), ""])
            continue
        yield _wrapper(operator, default.function)


@functools.cache
def _wrapper(operator: Operator, kernel: str) -> str:
    function = operator.schema
    namespace = _wrapper_namespace(function)
    parameters = _parameters(function, True, namespace)
    head = _declare(f"inline {_return_type(function, namespace)}", signatures.wrapper_name(function), parameters, ") {")
    names = ["context", *signatures.parameter_names(function)]
    body = _call(f"  return ::{kernel}(", names, ");")
    return "\n".join([*_comment_lines(str(function)), *_define(head, body), ""])


def _adapters(kernels: Sequence[tuple[str, Operator]]) -> Iterator[str]:
    for name, operator in kernels:
        function = operator.schema
        namespace, _, kernel = name.rpartition("::")
        context = _spelled(f"{signatures.CONTEXT}&", namespace)
        parameters = [context, *_parameters(function, False, namespace)]
        head = _declare(f"ET_WEAK {_return_type(function, namespace)}", kernel, parameters, ") {")
        body = _call(f"  return {kernel}(", signatures.parameter_names(function), ");")
        comment = _comment_lines(str(function))
        yield "\n".join([*comment, *_declaration(name, operator, False), *_define(head, body), ""])


def _by_namespace(kernels: Iterable[tuple[str, Operator]]) -> list[tuple[str, list[tuple[str, Operator]]]]:
    """Kernels' C++ names, each with an operator that it computes, by namespace."""
    groups: dict[str, list[tuple[str, Operator]]] = {}
    for name, operator in kernels:
        groups.setdefault(name.rpartition("::")[0], []).append((name, operator))
    return sorted(groups.items())


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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
