"""The statements of run(), and the tables to which the statements refer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from codegen.compiled import fixed_layers, interface, numbers
from codegen.compiled.fixed_call import FixedCall, GeneralCallError
from codegen.compiled.method import CONSTANTS, Method, prim_op_name
from codegen.cpp import layout
from codegen.model import kernel_keys, prim_ops, signatures
from codegen.model.execution_plan import Instruction, List, Place, Tensor
from codegen.model.kernel_keys import TensorKind
from codegen.model.operators import Operator

# The namespace of ExecuTorch's kernels and of those of the same names in //kernels. A kernel of another namespace, such
# as a user's own kernel of an operator of PyTorch, is always called.
_STOCK_KERNELS = "torch::executor::native::"
_TENSOR_LISTS = ("TensorList", "OptionalTensorList")
# The C++ types of arguments that are numbers.
_NUMBERS = {"SymInt": numbers.INT, "bool": numbers.BOOL, "float": numbers.DOUBLE, "int": numbers.INT}
# Names in run() that a schema may use, too.
_USED = re.compile(r"(?:number|tensor)\d+|FixedTensor|dynamic_|kTensors|memories_")
# The limits of an entry in the table of tensors.
_MAX_STRIDE = 2**31 - 1
_MAX_OFFSET = 2**32 - 1
_MAX_MEMORY = 2**8 - 1


class Calls:
    """Writes the instructions of a method.

    Args:
        method: the method.
        functions: the functions of the namespace `kernels` that call kernels, by operator and kernel. The statements
            call other kernels directly.
        is_small: whether calls with fixed sizes are loops or calls of kernels/fixed, where there are such.

    Attributes:
        arrays: the names of the constant arrays by their type and elements.
        entries: the lines of the table of tensors.
        has_context: whether a kernel of the library is called, which needs a context.
        headers: the headers of kernels/fixed that the statements need.
        names: the operator or kind of each instruction.
        statements: the statements.
    """

    def __init__(self, method: Method, functions: Mapping[tuple[str, str], str], *, is_small: bool) -> None:
        self._method = method
        self._functions = functions
        self._is_small = is_small
        self.has_context = False
        self.headers: set[str] = set()
        self._entries: dict[int, int] = {}
        self.arrays: dict[tuple[str, tuple[int, ...]], str] = {}
        self.entries: list[str] = []
        instructions = method.plan.instructions
        self.names = [instruction.operator or instruction.kind for instruction in instructions]
        targets = {each.numbers[1] for each in instructions if each.kind == "JumpFalseCall"}
        statements = []
        for number, instruction in enumerate(instructions):
            statement = self._statement(number, instruction)
            label = f"instruction{number}:\n" if number in targets else ""
            statements.append(label + (statement or ("  ;\n" if label else "")))
        if len(instructions) in targets:
            statements.append(f"instruction{len(instructions)}:\n  ;\n")
        self.statements = "".join(statements)

    def entry(self, index: int) -> str:
        """Returns the expression of a tensor's entry in the table of tensors."""
        if index in self._method.moved:
            return f"*tensor{index}"
        if index not in self._entries:
            tensor = self._method.tensor(index)
            # A view with dynamic sizes has no place before its instruction runs.
            place = (
                self._method.places.get(index, Place(CONSTANTS, 0)) if tensor.is_dynamic else self._method.place(index)
            )
            self._method.element(index)
            self._check_limits(index, place)
            self._entries[index] = len(self.entries)
            fields = (
                self._array("int32_t", tensor.sizes),
                self._array("int32_t", tensor.strides),
                self._array("uint8_t", tensor.dim_order),
                f"{place.offset}",
                f"{place.memory}",
                f"{tensor.dtype}",
                f"{len(tensor.sizes)}",
            )
            shape = interface.shape(self._method, index)
            self.entries.append(f"    {{{', '.join(fields)}}},  // {len(self.entries)}: {shape}\n")
        return f"kTensors[{self._entries[index]}]"

    def _check_limits(self, index: int, place: Place) -> None:
        tensor = self._method.tensor(index)
        if max(tensor.strides, default=0) > _MAX_STRIDE or place.offset > _MAX_OFFSET or place.memory > _MAX_MEMORY:
            raise self._method.error(
                f"tensor {index} of sizes {list(tensor.sizes)} at {place.offset} in memory {place.memory} is too large",
                "the table of tensors has room for strides up to 2**31 - 1, offsets up to 4 GiB, and "
                f"{_MAX_MEMORY} memories, of which each input and output may be one",
                "make the tensors smaller, or run the program in an executorch_binary",
            )

    def _array(self, type_: str, elements: Sequence[int]) -> str:
        if not elements:
            return "nullptr"
        return self.arrays.setdefault((type_, tuple(elements)), f"kArray{len(self.arrays)}")

    def _statement(self, number: int, instruction: Instruction) -> str:
        match instruction.kind:
            case "KernelCall" if instruction.operator in prim_ops.PRIM_OPS:
                return self._prim_op(number, instruction)
            case "KernelCall":
                return self._kernel_call(number, instruction)
            case "JumpFalseCall":
                index, target = instruction.numbers
                condition = self._condition(index)
                unless = "" if condition == numbers.literal(False).text else f"if (!{condition}) "
                return f"  {unless}goto instruction{target};\n"
            case "MoveCall":
                return self._move(number, *instruction.numbers)
        return ""

    def _condition(self, index: int) -> str:
        method = self._method
        index = method.resolved(index)
        if not isinstance(method.plan.values[index], Tensor) or index in method.numbers:
            return method.number(index).text
        if index in method.dynamic:
            return f"is_true(Tensor(&dynamic_[{method.dynamic[index]}]))"
        return f"is_true(FixedTensor({self.entry(index)}, memories_))"

    def _move(self, number: int, source: int, target: int) -> str:
        method = self._method
        if target in method.dynamic:
            block = _Block(self, method)
            arguments = [block.argument("self", "Tensor", source), block.argument("out", "Tensor", target)]
            return _checked(number, "a move", block, f"view({', '.join(arguments)})")
        if isinstance(method.plan.values[source], Tensor) and source not in method.numbers:
            source = method.resolved(source)
            pointer = f"tensor{source}" if source in method.moved else f"&{self.entry(source)}"
            return f"  tensor{target} = {pointer};\n"
        return f"  number{target} = {method.number(source).text};\n"

    # Kernels.

    def _kernel_call(self, number: int, instruction: Instruction) -> str:
        operator = self._method.operator(instruction.operator)
        function = operator.schema
        kernel = self._kernel(operator, instruction.numbers)
        if self._is_small and kernel.startswith(_STOCK_KERNELS):
            try:
                return self._fixed_call(number, instruction, operator)
            except GeneralCallError:
                pass
        self.has_context = True
        block = _Block(self, self._method)
        arguments = [
            block.argument(name, str(argument.type), index)
            for name, argument, index in zip(
                signatures.parameter_names(function), function.arguments, instruction.numbers, strict=False
            )
        ]
        function_name = self._functions.get((operator.name, kernel))
        called = f"::{kernel}" if function_name is None else f"kernels::{function_name}"
        call = f"{called}({', '.join(['context', *arguments])});\n"
        result = instruction.numbers[-1]
        if result in self._method.numbers and len(instruction.numbers) > len(function.arguments):
            call = f"number{result} = {call}"
        return (
            f"  {{  // {number}: {instruction.operator}\n{block.declarations}"
            f"    {call}"
            f"    if (!context.succeeded()) return context.failure({number});\n  }}\n"
        )

    def _fixed_call(self, number: int, instruction: Instruction, operator: Operator) -> str:
        call = FixedCall(self._method, operator, instruction)
        statements, header = fixed_layers.statements(call)
        if header:
            self.headers.add(header)
        return f"  {{  // {number}: {instruction.operator}\n{call.declarations}{statements}  }}\n"

    def _kernel(self, operator: Operator, values: Sequence[int]) -> str:
        """Returns the kernel for the dtypes and dim orders of a call, as the runtime chooses the kernel."""
        tensors = [self._method.plan.values[self._method.resolved(index)] for index in values]
        kinds = tuple(TensorKind(each.dtype, each.dim_order) for each in tensors if isinstance(each, Tensor))
        key = kernel_keys.render(kinds)
        kernel = next((kernel for kernel in operator.kernels if key in kernel.keys), operator.default)
        if kernel is None:
            raise self._method.error(
                f"{operator.name} has no kernel for {kernel_keys.readable(key)}",
                "the kernels in the YAML have other dtypes or dim orders (arg_meta)",
                "add a kernel for these tensors, or one with 'arg_meta: null' for all tensors",
            )
        if kernel.is_aten:
            raise self._method.error(
                f"{operator.name} runs with PyTorch's own kernel",
                'the library has fallback = "aten" or aten_mode = True, and PyTorch is no part of a compiled program',
                "use a library with kernels of //kernels/portable or of your own",
            )
        return kernel.function

    # The runtime's own operators.

    def _prim_op(self, number: int, instruction: Instruction) -> str:
        method = self._method
        name = prim_op_name(instruction)
        *arguments, result = instruction.numbers
        match name:
            case "et_view":
                return self._view(number, *instruction.numbers)
            case "et_copy_index":
                return self._copy_index(number, *instruction.numbers)
            case "_local_scalar_dense":
                index = method.resolved(arguments[0])
                block = _Block(self, method)
                function = {numbers.DOUBLE: "floating_item", numbers.INT: "integer_item", numbers.BOOL: "is_true"}
                item = f"{function[method.numbers[result]]}({block.argument('self', 'Tensor', index)})"
                statement = f"{block.declarations}    number{result} = {item};\n"
                return f"  {{  // {number}: {instruction.operator}\n{statement}  }}\n"
            case "sym_numel" | "sym_size":
                return f"  number{result} = {self._size(name, arguments)};\n"
        return f"  number{result} = {numbers.computed(name, list(map(method.number, arguments))).text};\n"

    def _size(self, name: str, arguments: Sequence[int]) -> str:
        method = self._method
        index = method.resolved(arguments[0])
        tensor = method.tensor(index)
        if index in method.dynamic:
            of = "numel()" if name == "sym_numel" else f"size({method.number(arguments[1]).text})"
            return f"dynamic_[{method.dynamic[index]}].{of}"
        if name == "sym_numel":
            return str(tensor.numel)
        dimension = method.plan.values[arguments[1]]
        if not isinstance(dimension, int) or not -len(tensor.sizes) <= dimension < len(tensor.sizes):
            raise method.damaged(f"the program asks for size {dimension} of a tensor of {len(tensor.sizes)} dimensions")
        return str(tensor.sizes[dimension])

    def _view(self, number: int, source: int, sizes: int, out: int) -> str:
        method = self._method
        source = method.resolved(source)
        if source not in method.dynamic and out not in method.dynamic:
            return ""
        block = _Block(self, method)
        arguments = [
            block.argument("self", "Tensor", source),
            block.argument("size", "int[]", sizes),
            block.argument("out", "Tensor", out),
        ]
        return _checked(number, "a view", block, f"view({', '.join(arguments)})")

    def _copy_index(self, number: int, copy_to: int, copy_from: int, index: int) -> str:
        block = _Block(self, self._method)
        arguments = [
            block.argument("copy_to", "Tensor", copy_to),
            block.argument("copy_from", "Tensor", copy_from),
            self._method.number(index).text,
        ]
        return _checked(number, "a copy to an index", block, f"copy_index({', '.join(arguments)})")


class _Block:
    """The variables of one call.

    Attributes:
        declarations: the declarations.
    """

    def __init__(self, calls: Calls, method: Method) -> None:
        self._calls = calls
        self._method = method
        self._taken: set[str] = set()
        self.declarations = ""

    def argument(self, name: str, type_: str, index: int) -> str:
        """Declares the variables of an argument, and returns the argument's expression.

        Args:
            name: the parameter's name in C++.
            type_: the type in the schema.
            index: the index of the value.
        """
        method = self._method
        value = method.plan.values[index]
        is_number = method.resolved(index) in method.numbers
        if value is None and not is_number:
            return "std::nullopt"
        element = type_.removesuffix("?")
        if isinstance(value, List):
            type_name, text = self._list(name, value)
            return f"std::optional<{type_name}>({text})" if element != type_ else text
        if isinstance(value, Tensor) and not is_number:
            text = self._tensor(name, index)
            return f"std::optional<Tensor>({text})" if element != type_ else text
        if isinstance(value, str) and not is_number:
            type_name, text = "std::string_view", f"std::string_view({layout.quoted(value)}, {len(value.encode())})"
        else:
            type_name, text = self._number(element, index)
        return f"std::optional<{type_name}>({text})" if element != type_ else text

    def _number(self, type_: str, index: int) -> tuple[str, str]:
        number = self._method.number(index)
        text = number.text.removeprefix("int64_t{").removesuffix("}")
        if type_ == "Scalar":
            return "Scalar", f"Scalar({text})"
        if type_ == "Device":
            device = "executorch::aten::Device"
            return device, f"{device}(static_cast<{device}Type>({text}), -1)"
        if type_ not in _NUMBERS:
            enumeration = f"executorch::aten::{type_}"
            return enumeration, f"static_cast<{enumeration}>({text})"
        wanted = _NUMBERS[type_]
        return wanted, text if number.type == wanted else f"static_cast<{wanted}>({text})"

    def _free(self, name: str) -> str:
        """Returns the name of a new variable."""
        while name in self._taken or _USED.fullmatch(name):
            name += "_"
        self._taken.add(name)
        return name

    def _tensor(self, name: str, index: int) -> str:
        method = self._method
        name = self._free(name)
        index = method.resolved(index)
        if index in method.dynamic:
            self.declarations += f"    Tensor {name}(&dynamic_[{method.dynamic[index]}]);\n"
        else:
            self.declarations += f"    FixedTensor {name}({self._calls.entry(index)}, memories_);\n"
        return name

    def _list(self, name: str, value: List) -> tuple[str, str]:
        """Declares the array of a list, and returns the type and the expression of the list."""
        method = self._method
        storage = "static constexpr"
        if value.kind in _TENSOR_LISTS:
            storage = "const"
            element = "Tensor" if value.kind == "TensorList" else "std::optional<Tensor>"
            items = [
                self._tensor(f"{name}{i}", int(item)) if item >= 0 else "std::nullopt"
                for i, item in enumerate(value.items)
            ]
        elif value.kind == "IntList":
            element = numbers.INT
            if any(method.resolved(int(item)) in method.numbers for item in value.items):
                storage = "const"
            items = [self._number("int", int(item))[1] for item in value.items]
        else:
            element = numbers.DOUBLE if value.kind == "DoubleList" else numbers.BOOL
            items = [numbers.literal(item).text for item in value.items]
        type_name = f"ArrayRef<{element}>"
        if not items:
            return type_name, f"{type_name}()"
        name = self._free(name)
        self.declarations += f"    {storage} {element} {name}[] = {{{', '.join(items)}}};\n"
        return type_name, f"{type_name}({name}, {len(items)})"


def _checked(number: int, what: str, block: _Block, call: str) -> str:
    """Returns the statements for a call of a function that returns an error."""
    return (
        f"  {{  // {number}: {what}\n{block.declarations}"
        f"    const Error error = {call};\n"
        f"    if (error != Error::Ok) return status_of(error, {number});\n  }}\n"
    )
