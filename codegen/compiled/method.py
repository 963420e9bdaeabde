"""Where each value of a method is in the generated class."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from codegen.compiled import numbers, shared_state
from codegen.compiled.constants import Constants
from codegen.compiled.findings import uncompilable
from codegen.compiled.numbers import Number
from codegen.model import cpp_names, prim_ops, signatures
from codegen.model.elements import ELEMENTS, Element
from codegen.model.execution_plan import Content, ExecutionPlan, Instruction, List, Place, Tensor
from codegen.model.operators import Operator
from diagnostics.errors import InputError

# The number of the memory with the constants. The planned memories follow, then those that the application sets.
CONSTANTS = 0

_READERS = {"sym_size": numbers.INT, "sym_numel": numbers.INT}
# The numbers of arguments of the runtime's own operators, without the result.
_ARGUMENTS = {
    **numbers.ARGUMENTS,
    "et_copy_index": 2,
    "et_view": 2,
    "sym_size": 2,
    "sym_numel": 1,
    "_local_scalar_dense": 1,
}
_FLOATING = ("float16", "bfloat16", "float32", "float64")
# An operator that changes its argument in place, and does not read the argument.
_COPY = "aten::copy_"
# Names in the generated code that a class cannot have.
_USED = ("CallContext", "FixedTensor", "Memory", "SharedState", "TensorImpl", "TensorInfo")


class Method:
    """A method of a program, with the places of the method's values.

    Args:
        plan: the method.
        content: the program.
        operators: the operators of the library by their full names.
        constants: collects the constants.
        label: the label of the compiled program, for errors.
        taken: the names of other methods' classes.
        shares_state: whether the method has a memory that it shares with the other methods.

    Attributes:
        class_name: the name of the class.
        dynamic: the tensors with dynamic sizes: their numbers in the class by their indices among the values.
        moved: the tensors with fixed sizes that are one of several other tensors, depending on a branch. Those with
            dynamic sizes are in `dynamic`: a move makes them views.
        numbers: the C++ types of the numbers that run() computes, by their indices.
        places: the place of each tensor.
        read: the values that instructions read or that the method returns.
        set_by_caller: the tensors whose memory the application sets: the numbers of the memories.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        content: Content,
        operators: Mapping[str, Operator],
        constants: Constants,
        *,
        label: str,
        taken: Collection[str],
        shares_state: bool,
    ) -> None:
        self.plan = plan
        self.shares_state = shares_state
        self.class_name = _class_name(plan.name, taken)
        self.content = content
        self.operators = operators
        self.constants = constants
        self._label = label
        self._aliases: dict[int, int] = {}
        self.numbers: dict[int, str] = {}
        self.places: dict[int, Place] = {}
        self.set_by_caller: dict[int, int] = {}
        self.dynamic: dict[int, int] = {}
        if plan.backends:
            raise self.error(
                f"the method delegates to {', '.join(sorted(set(plan.backends)))}",
                "a backend's library runs in ExecuTorch's runtime, which a compiled program does not have",
                "export without backends, or run the program in an executorch_binary",
            )
        self._place_tensors()
        self.moved = self._find_moved()
        # A view of an input has the input's place.
        self._place_interface(plan.inputs)
        for number, instruction in enumerate(plan.instructions):
            self._read_instruction(number, instruction)
        self._place_interface(plan.outputs)
        self.read = {self.resolved(index) for read, _ in self._accesses() for index in read}
        self.read |= {self.resolved(index) for index in plan.outputs}

    @property
    def own_memories(self) -> tuple[int, ...]:
        """The sizes of the planned memories that the method does not share."""
        return self.plan.memory_sizes[: shared_state.MEMORY - 1] if self.shares_state else self.plan.memory_sizes

    @property
    def memory_count(self) -> int:
        return 1 + len(self.plan.memory_sizes) + len(self.set_by_caller)

    @property
    def title(self) -> str:
        """The name for comments, which have one line."""
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in self.plan.name)

    def error(self, found: str, cause: str, fix: str) -> InputError:
        return uncompilable(self._label, f"method '{self.title}': {found}", cause, fix)

    def damaged(self, found: str) -> InputError:
        return self.error(found, "the program was damaged", "export the program again")

    def resolved(self, index: int) -> int:
        """Returns the value that a value is: the result of a kernel may be an argument of the kernel."""
        while index in self._aliases:
            index = self._aliases[index]
        return index

    def tensor(self, index: int) -> Tensor:
        value = self.plan.values[index]
        if not isinstance(value, Tensor):
            raise self.damaged(f"value {index} is no tensor, but is used as one")
        return value

    def element(self, index: int) -> Element:
        dtype = self.tensor(index).dtype
        if dtype not in ELEMENTS:
            raise self.error(
                f"a tensor has the dtype number {dtype}, which compiled programs do not support",
                "the model computes with packed numbers",
                f"use one of {', '.join(element.name for element in ELEMENTS.values())}",
            )
        return ELEMENTS[dtype]

    def nbytes(self, index: int) -> int:
        return self.tensor(index).numel * self.element(index).size

    def place(self, index: int) -> Place:
        if index not in self.places:
            raise self.error(
                f"tensor {index} has no memory",
                "the program was exported without planned memory",
                "let the export plan the memory of all tensors except inputs and outputs",
            )
        return self.places[index]

    def number(self, index: int) -> Number:
        """Returns the C++ expression of a number."""
        index = self.resolved(index)
        if index in self.numbers:
            return Number(f"number{index}", self.numbers[index])
        value = self.plan.values[index]
        if not isinstance(value, (int, float)):
            raise self.damaged(f"value {index} is no number, but is used as one")
        return numbers.literal(value)

    # What instructions mean for the values.

    def _place_tensors(self) -> None:
        for index, value in enumerate(self.plan.values):
            if not isinstance(value, Tensor):
                continue
            if value.external is not None:
                raise self.error(
                    f"the constant {value.external} is in another file",
                    "the program was exported with external constants",
                    'export the program with its constants inside, without weights = "external"',
                )
            if value.place is not None:
                memory, offset = value.place
                sizes = self.plan.memory_sizes
                if not 1 <= memory <= len(sizes) or offset + self.nbytes(index) > sizes[memory - 1]:
                    raise self.damaged(f"tensor {index} is outside of the planned memory")
                self.places[index] = value.place
            elif value.data:
                self.places[index] = Place(CONSTANTS, self.constants.offset(self._constant(index, value)))
            if value.is_dynamic:
                self.dynamic[index] = len(self.dynamic)

    def _find_moved(self) -> frozenset[int]:
        moves = [
            each.numbers
            for each in self.plan.instructions
            if each.kind == "MoveCall" and isinstance(self.plan.values[each.numbers[0]], Tensor)
        ]
        while new := {target for source, target in moves if source in self.dynamic and target not in self.dynamic}:
            self.dynamic |= {target: len(self.dynamic) + i for i, target in enumerate(sorted(new))}
        return frozenset(target for _, target in moves if target not in self.dynamic)

    def _constant(self, index: int, tensor: Tensor) -> memoryview:
        data = self.content.constants.get(tensor.data, memoryview(b""))
        if len(data) < self.nbytes(index):
            raise self.damaged(f"constant {tensor.data} has {len(data)} bytes of {self.nbytes(index)}")
        return data[: self.nbytes(index)]

    def _place_interface(self, indices: Sequence[int]) -> None:
        """Gives each input or output without memory a memory that the application sets."""
        for index in map(self.resolved, indices):
            is_tensor = isinstance(self.plan.values[index], Tensor)
            if is_tensor and self.element(index).is_complex:
                raise self.error(
                    f"an input or output has the dtype {self.element(index).name}",
                    "the functions of a compiled program take and give real numbers",
                    "begin forward() with torch.view_as_complex(x), and return torch.view_as_real(y)",
                )
            if is_tensor and index not in self.places and index not in self.moved:
                self.set_by_caller[index] = 1 + len(self.plan.memory_sizes) + len(self.set_by_caller)
                self.places[index] = Place(self.set_by_caller[index], 0)

    def _read_instruction(self, number: int, instruction: Instruction) -> None:
        match instruction.kind:
            case "KernelCall" if instruction.operator in prim_ops.PRIM_OPS:
                self._read_prim_op(instruction)
            case "KernelCall":
                self._read_kernel_call(instruction)
            case "MoveCall":
                source, target = instruction.numbers
                if not isinstance(self.plan.values[source], Tensor):
                    self.numbers[target] = self.number(source).type
                elif target in self.dynamic:
                    # run() sets the place.
                    self.places.setdefault(target, self.places.get(self.resolved(source), Place(CONSTANTS, 0)))
                elif self.resolved(source) in self.dynamic:
                    raise self.damaged(
                        f"instruction {number} moves a tensor with dynamic sizes to one with fixed sizes"
                    )
            case "JumpFalseCall" | "FreeCall":
                pass
            case kind:
                raise self.damaged(f"instruction {number} is a {kind}")

    def operator(self, name: str) -> Operator:
        if name not in self.operators:
            raise self.error(
                f"the library has no kernels for {name}",
                "the library was made for another program",
                "add the program to the models of the library's et_operator_library",
            )
        return self.operators[name]

    def _read_kernel_call(self, instruction: Instruction) -> None:
        function = self.operator(instruction.operator).schema
        values = instruction.numbers
        count = len(function.arguments)
        if len(values) == count:
            return
        result = values[-1]
        if function.out:
            # The result of several out arguments is a list, whose items are the arguments.
            if len(function.out) == 1:
                self._alias(result, values[count - 1])
        elif function.returns and function.returns[0].is_written:
            alias = function.returns[0].alias
            written = next(v for v, a in zip(values, function.arguments, strict=False) if a.alias == alias)
            self._alias(result, written)
        elif function.returns:
            type_ = signatures.return_type(function)
            if type_ not in (numbers.INT, numbers.DOUBLE, numbers.BOOL):
                raise self.error(
                    f"{instruction.operator} returns a new {type_}",
                    "the operator has no out argument",
                    "declare the operator with an out argument: '*, Tensor(a!) out) -> Tensor(a!)'",
                )
            self.numbers[result] = type_

    def _alias(self, result: int, argument: int) -> None:
        argument = self.resolved(argument)
        if argument != result:
            self._aliases[result] = argument

    def _read_prim_op(self, instruction: Instruction) -> None:
        name = prim_op_name(instruction)
        if name not in _ARGUMENTS:
            raise self.error(
                f"the program calls {instruction.operator}, which compiled programs do not support",
                "the operator is one of the runtime itself, and newer than the code generator",
                "run the program in an executorch_binary",
            )
        if len(instruction.numbers) != _ARGUMENTS[name] + 1:
            raise self.damaged(
                f"a call of {instruction.operator} has {len(instruction.numbers)} values of {_ARGUMENTS[name] + 1}"
            )
        *arguments, result = instruction.numbers
        if name == "et_view":
            source, _, out = instruction.numbers
            self._read_view(self.resolved(source), out)
        elif name == "et_copy_index":
            # The first argument, which the operator changes, is the result.
            pass
        elif name in _READERS:
            self.numbers[result] = _READERS[name]
        elif name == "_local_scalar_dense":
            self.numbers[result] = self._item_type(arguments[0])
        else:
            self.numbers[result] = numbers.computed(name, list(map(self.number, arguments))).type

    def _item_type(self, index: int) -> str:
        name = self.element(self.resolved(index)).name
        return numbers.DOUBLE if name in _FLOATING else numbers.BOOL if name == "bool" else numbers.INT

    def _read_view(self, source: int, out: int) -> None:
        if source in self.moved:
            raise self.error(
                "the program views the result of a branch",
                "a view of the result of torch.cond was not copied",
                'export with graph_passes = ["all", "-views"]',
            )
        if source in self.dynamic or out in self.dynamic:
            # run() sets the place.
            self.places.setdefault(out, self.places.get(source, Place(CONSTANTS, 0)))
        elif self.places.setdefault(out, self.place(source)) != self.place(source):
            raise self.damaged(f"tensor {out} is a view of tensor {source}, and has another place")

    # State.

    def _accesses(self) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """Yields the tensors that each instruction reads, and those to which the instruction writes."""
        for instruction in self.plan.instructions:
            if instruction.kind == "JumpFalseCall":
                yield instruction.numbers[:1], ()
            elif instruction.kind == "MoveCall":
                yield instruction.numbers[:1], instruction.numbers[1:]
            elif instruction.kind == "KernelCall" and prim_op_name(instruction) == "et_copy_index":
                yield instruction.numbers[1:2], instruction.numbers[:1]
            elif instruction.kind == "KernelCall" and instruction.operator in prim_ops.PRIM_OPS:
                yield instruction.numbers[:-1], instruction.numbers[-1:]
            elif instruction.kind == "KernelCall":
                yield self._accesses_of(instruction)

    def _accesses_of(self, instruction: Instruction) -> tuple[Sequence[int], Sequence[int]]:
        read: list[int] = []
        written: list[int] = []
        function = self.operators[instruction.operator].schema
        for index, argument in zip(instruction.numbers, function.arguments, strict=False):
            value = self.plan.values[index]
            is_list = isinstance(value, List) and value.kind in ("TensorList", "OptionalTensorList")
            tensors = [int(item) for item in value.items if item >= 0] if is_list else [index]  # type: ignore[union-attr]
            if argument.is_written:
                written += tensors
            # An argument that is changed in place is read first, unless it is overwritten.
            if not argument.is_written or (argument not in function.out and instruction.operator != _COPY):
                read += tensors
        return read, written

    def state(self) -> list[int]:
        """Returns the tensors that keep their elements from call to call: what is read before it is written.

        What methods share is state, too, since another method may read it. A view shares the memory of a tensor, so
        parts of memory are compared, not tensors.
        """
        found: list[int] = []
        known: list[tuple[int, int, int]] = []

        def add(indices: Iterable[int]) -> None:
            for index in indices:
                part = self._part(index)
                if part and not any(_overlap(part, each) for each in known):
                    found.append(index)
                    known.append(part)

        add(sorted(filter(self.is_shared, self.places), key=self.nbytes, reverse=True))
        known += [part for index in self.plan.inputs if (part := self._part(index))]
        for read, written in self._accesses():
            add(map(self.resolved, read))
            known += [part for index in written if (part := self._part(index))]
        return found

    def is_shared(self, index: int) -> bool:
        """Returns whether a tensor is in the memory that methods share."""
        return self.shares_state and self.places[index].memory == shared_state.MEMORY

    def _part(self, index: int) -> tuple[int, int, int] | None:
        """Returns the memory, the begin and the end of a tensor in planned memory; None for other values."""
        if not isinstance(self.plan.values[index], Tensor):
            return None
        place = self.places.get(index)
        if place is None or not 1 <= place.memory <= len(self.plan.memory_sizes):
            return None
        return place.memory, place.offset, place.offset + self.nbytes(index)

    def initial(self) -> dict[Place, memoryview]:
        """Returns the initial contents of the state that the program has, by their places."""
        contents: dict[Place, memoryview] = {}
        for index, value in enumerate(self.plan.values):
            if isinstance(value, Tensor) and value.place is not None and value.data:
                data = self.content.initial.get(value.data)
                if data is not None:
                    contents[value.place] = data[: self.nbytes(index)]
        return contents


def _class_name(method: str, taken: Collection[str]) -> str:
    words = re.sub(r"\W", "_", method, flags=re.ASCII).split("_")
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return cpp_names.free(name if name[:1].isalpha() else f"Method{name}", {*taken, *_USED})


def _overlap(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


def prim_op_name(instruction: Instruction) -> str:
    """Returns the name of an operator of the runtime itself, without namespace and overload."""
    return instruction.operator.partition("::")[2].partition(".")[0]
