"""The files of a compiled program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from codegen.artifacts import origins
from codegen.artifacts.origins import Origins
from codegen.artifacts.registered_operators import Library
from codegen.compiled import c_interface, constants, input_sizes, interface, shared_state
from codegen.compiled.calls import Calls
from codegen.compiled.constants import Constants
from codegen.compiled.method import Method
from codegen.cpp import layout, typed_kernels
from codegen.cpp.boxed_kernel import boxed_kernels
from codegen.cpp.source import Source
from codegen.model.execution_plan import Content
from codegen.source_templates.source_templates import SourceTemplates

# Names of runtime/compiled/support.h. A directive for the namespace would make the names ambiguous beside kernels in
# namespaces of the same names.
_SUPPORT = (
    "ArrayRef",
    "CallContext",
    "Error",
    "FixedTensor",
    "Scalar",
    "Tensor",
    "TensorInfo",
    "address",
    "constant_bytes",
    "copy_index",
    "dynamic_tensor",
    "floating_item",
    "floor_divide",
    "integer_item",
    "is_true",
    "modulo",
    "resize",
    "status_of",
    "view",
)
_TEMPLATES = SourceTemplates(Path(__file__).with_name("templates"))


class Names(NamedTuple):
    """The names in the generated files.

    Attributes:
        label: the label of the compiled program.
        program: the program's label, or another name for comments.
        cpp_namespace: the namespace of the classes.
        header: the include path of the header.
        native_functions: the include path of NativeFunctions.h of the library.
        typed_kernels: the include path of TypedKernels.h, if the program calls the kernels for the processor's
            instruction set.
    """

    label: str
    program: str
    cpp_namespace: str
    header: str
    native_functions: str
    typed_kernels: str | None = None

    @property
    def c_header(self) -> str:
        """The include path of the header for C."""
        return f"{self.header.removesuffix('.h')}_c.h"

    @property
    def symbol(self) -> str:
        """The symbol of the array of constants, which no other compiled program has."""
        return f"{Source(self.label, ()).namespace}_constants"


class Program:
    """A program in C++.

    Args:
        content: the program.
        library: the library with the kernels.
        names: the names in the files.
        constants_by_pointer: whether the application gives the address of the constants.
        is_small: whether calls with fixed sizes are loops or calls of kernels/fixed, where there are such.
        scratch_bytes: the bytes of scratch memory that kernels need; None if they are not known.
        lines: the lines of Python behind the instructions, if they are known.

    Raises:
        InputError: the program cannot be compiled.
    """

    def __init__(
        self,
        content: Content,
        library: Library,
        names: Names,
        constants_by_pointer: bool,
        *,
        is_small: bool = False,
        scratch_bytes: int | None = None,
        lines: Origins = origins.NONE,
    ) -> None:
        self._lines = lines
        by_name = {operator.name: operator for operator in library.operators}
        self._names = names
        self._by_pointer = constants_by_pointer
        self.constants = Constants()
        self.methods: list[Method] = []
        self.shared_bytes = shared_state.size(content.plans, names.label)
        for plan in content.plans:
            taken = [method.class_name for method in self.methods]
            self.methods.append(
                Method(
                    plan,
                    content,
                    by_name,
                    self.constants,
                    label=names.label,
                    taken=taken,
                    shares_state=self.shared_bytes is not None,
                )
            )
        # The function of TypedKernels.h for each kernel.
        functions: dict[tuple[str, str], str] = {}
        self._kernels = ""
        if names.typed_kernels is not None:
            self._kernels = f"namespace kernels = {typed_kernels.namespace(Source(library.label, ()))};\n"
            kernels = boxed_kernels(library.operators)
            functions = {(boxed.operator.name, boxed.kernel.function): boxed.function for boxed in kernels}
        self._calls = [Calls(method, functions, is_small=is_small) for method in self.methods]
        # Calls without kernels need none.
        self.scratch_bytes = {
            method.class_name: scratch_bytes if calls.has_context else 0
            for method, calls in zip(self.methods, self._calls, strict=True)
        }

    def header(self) -> str:
        classes = "\n".join(self._class(method) for method in self.methods)
        has_dynamic = any(method.dynamic for method in self.methods)
        return fill(
            "CompiledProgram.h",
            label=self._names.label,
            program=self._names.program,
            tensors="#include <executorch/runtime/core/exec_aten/exec_aten.h>\n\n" if has_dynamic else "",
            namespace=self._names.cpp_namespace,
            shared_state=self._shared_state("shared_state.h"),
            classes=classes,
        )

    def source(self) -> str:
        # The initial contents of the state come into the constants, too.
        methods = "\n".join(
            self._method(method, calls) for method, calls in zip(self.methods, self._calls, strict=True)
        )
        headers = sorted({header for calls in self._calls for header in calls.headers})
        using = [name for name in _SUPPORT if re.search(rf"(?<!::)\b{name}\b", methods)]
        return fill(
            "CompiledProgram.cpp",
            label=self._names.label,
            program=self._names.program,
            header=self._names.header,
            kernels_header=self._names.typed_kernels or self._names.native_functions,
            fixed_headers="".join(f'#include "kernels/fixed/{header}.h"\n' for header in headers),
            fixed="namespace fixed = ::rules_executorch::kernels::fixed;\n" if headers else "",
            constants="" if self._by_pointer else f"extern const uint64_t {self._names.symbol}[];\n",
            namespace=self._names.cpp_namespace,
            kernels=self._kernels,
            using="".join(f"using ::compiled_program::{name};\n" for name in using),
            methods=methods,
        )

    def c_header(self) -> str:
        return fill(
            "CompiledProgramC.h",
            label=self._names.label,
            program=self._names.program,
            shared_state=self._shared_state("c_shared_state.h"),
            methods="\n".join(self._c_method(method, "c_method.h") for method in self.methods),
        )

    def c_source(self) -> str:
        return fill(
            "CompiledProgramC.cpp",
            label=self._names.label,
            c_header=self._names.c_header,
            header=self._names.header,
            shared_state=self._shared_state("c_shared_state.cpp"),
            methods="\n".join(self._c_method(method, "c_method.cpp") for method in self.methods),
        )

    def _shared_state(self, template: str) -> str:
        """Returns the type of the state that methods share; an empty text if there is none."""
        if self.shared_bytes is None:
            return ""
        return fill(
            template,
            alignment=constants.ALIGNMENT,
            bytes=max(self.shared_bytes, 1),
            c_bytes=c_interface.aligned(self.shared_bytes),
            namespace=self._names.cpp_namespace,
        )

    def _c_method(self, method: Method, template: str) -> str:
        name = f"{self._names.cpp_namespace}_{method.class_name}"
        scratch_bytes = self.scratch_bytes[method.class_name]
        state = f"::{self._names.cpp_namespace}::SharedState"
        memories = ["void* memory", *(["void* state"] if method.shares_state else [])]
        functions = c_interface.declarations if template == "c_method.h" else c_interface.definitions
        return fill(
            template,
            method=method.title,
            name=name,
            class_name=f"::{self._names.cpp_namespace}::{method.class_name}",
            words=c_interface.object_words(method),
            memory_bytes=c_interface.memory_bytes(method),
            scratch_bytes=f"  {name}_scratch_bytes = {scratch_bytes},\n" if scratch_bytes is not None else "",
            sizes=c_interface.sizes(method, name),
            has_state=int(bool(method.state())),
            parameters=", ".join([f"{name}* self", *memories, *self._parameters()]),
            state=f"*static_cast<{state}*>(state), " if method.shares_state else "",
            constants=", constants" if self._by_pointer else "",
            functions=functions(method, name),
        )

    def _class(self, method: Method) -> str:
        members = interface.members(method)
        planned = "".join(
            f"    alignas({constants.ALIGNMENT}) uint8_t planned{i}[{max(size, 1)}];\n"
            for i, size in enumerate(method.own_memories, 1)
        )
        private = members.private
        scratch_bytes = self.scratch_bytes[method.class_name]
        if method.dynamic:
            ranks = sum(len(method.tensor(index).sizes) for index in method.dynamic)
            private += (
                f"  int32_t sizes_[{ranks}], strides_[{ranks}];\n"
                f"  executorch::aten::TensorImpl dynamic_[{len(method.dynamic)}];\n"
            )
        return fill(
            "class.h",
            method=method.title,
            name=method.class_name,
            planned=planned,
            parameters=", ".join(self._parameters(method)),
            has_state="true" if method.state() else "false",
            scratch_bytes=(
                "  /// The bytes of scratch memory that a call needs.\n"
                f"  static constexpr size_t kScratchBytes = {scratch_bytes};\n\n"
                if scratch_bytes is not None
                else ""
            ),
            interface=members.public,
            memory_count=method.memory_count,
            # Clang warns of private members that no function reads.
            unused="[[maybe_unused]] " if scratch_bytes == 0 else "",
            private=private,
        )

    def _parameters(self, method: Method | None = None) -> list[str]:
        """Returns the parameters of a constructor; without a method, those that all constructors and C have alike."""
        memories = ["Memory& memory"] if method else []
        memories += ["SharedState& state"] if method and method.shares_state else []
        by_pointer = ["const void* constants"] if self._by_pointer else []
        return [*memories, "void* scratch", "size_t scratch_bytes", *by_pointer]

    def _method(self, method: Method, calls: Calls) -> str:
        address = "constants" if self._by_pointer else f"::{self._names.symbol}"
        memories = [f"constant_bytes({address})"]
        memories += [f"memory.planned{i}" for i in range(1, len(method.own_memories) + 1)]
        memories += ["state.bytes"] if method.shares_state else []
        memories += ["nullptr"] * len(method.set_by_caller)
        dynamic = _dynamic(method, calls)
        tensors = [f"  [[maybe_unused]] const TensorInfo* tensor{index} = nullptr;\n" for index in sorted(method.moved)]
        numbers = [f"  [[maybe_unused]] {type_} number{i} = 0;\n" for i, type_ in sorted(method.numbers.items())]
        members = interface.members(method)
        arrays = "".join(
            f"constexpr {type_} {name}[] = {{{', '.join(map(str, elements))}}};\n"
            for (type_, elements), name in calls.arrays.items()
        )
        lines = self._lines.get(method.plan.name, {})
        return fill(
            "method.cpp",
            method=method.title,
            name=method.class_name,
            tensors=fill("tensors.cpp", arrays=arrays, entries="".join(calls.entries)) if calls.entries else "",
            operators="".join(f"    {layout.quoted(name)},\n" for name in calls.names) or '    "",\n',
            source_lines="".join(
                f"    {layout.quoted(lines.get(number, ''))},\n" for number in range(max(len(calls.names), 1))
            ),
            instruction_count=len(calls.names),
            parameters=", ".join(self._parameters(method)),
            memories=", ".join(memories),
            dynamic=dynamic,
            memory_unused="" if method.own_memories else "  static_cast<void>(memory);\n",
            reset=self._reset(method),
            definitions=members.definitions,
            variables="".join(tensors + numbers),
            context="  CallContext context(scratch_, scratch_bytes_, scratch_used_);\n" if calls.has_context else "",
            checks=input_sizes.of_call(method),
            statements=calls.statements,
            results=members.results,
        )

    def _reset(self, method: Method) -> str:
        initial = method.initial()
        statements = [
            f"  std::memset(memories_[{place.memory}] + {place.offset}, 0, {method.nbytes(index)});\n"
            for index in method.state()
            for place in [method.place(index)]
            if place not in initial
        ]
        statements += [
            f"  std::memcpy(memories_[{place.memory}] + {place.offset}, memories_[0] + "
            f"{self.constants.offset(data)}, {len(data)});\n"
            for place, data in initial.items()
        ]
        return "".join(statements)


def constants_source(symbol: str, content: bytes) -> str:
    """Returns an array of constants as C++."""
    return fill("Constants.cpp", symbol=symbol, alignment=constants.ALIGNMENT, words=constants.as_words(content))


def constants_assembly(symbol: str, file: str) -> str:
    """Returns an array of constants as assembly for ELF, which includes a file."""
    return fill("Constants.S", symbol=symbol, alignment=constants.ALIGNMENT, file=file)


def _dynamic(method: Method, calls: Calls) -> str:
    """Returns the initializer of the tensors with dynamic sizes."""
    if not method.dynamic:
        return ""
    rank = 0
    tensors = []
    for index in method.dynamic:
        entry = f"of_{method.class_name}::{calls.entry(index)}"
        tensors.append(f"          dynamic_tensor({entry}, memories_, sizes_ + {rank}, strides_ + {rank}),\n")
        rank += len(method.tensor(index).sizes)
    return f",\n      dynamic_{{\n{''.join(tensors)}      }}"


def fill(name: str, /, **values: object) -> str:
    """Returns the text of a template of this folder, with lines within the limit."""
    return layout.fit(_TEMPLATES.fill(name, **values))
