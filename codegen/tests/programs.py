"""Small ExecuTorch programs for tests, written with flatc's own builder functions."""

from __future__ import annotations

import importlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import flatbuffers

# flatc generates no types.
_schema: Any = importlib.import_module("codegen.inputs.program_generated")
# The size of the last segment at the end of a program, and where its header has the size of all segments.
_LAST_SEGMENT = 16
_SEGMENTS_SIZE = 32


@dataclass(frozen=True)
class Tensor:
    """A tensor. Only one with sizes can be run with.

    Attributes:
        dtype: its dtype's number.
        dim_order: its dimensions, the outermost first.
        sizes: its sizes.
        content: its elements, if the program has them; a tensor with sizes and without content is an output. With a
            place, the elements at the beginning of the first call.
        place: the number of its planned memory, from 1, and the offset there.
        is_dynamic: whether the sizes are upper bounds.
        external: the key of its elements in another file.
        name: its name, if it is a mutable buffer.
    """

    dtype: int
    dim_order: tuple[int, ...]
    sizes: tuple[int, ...] = ()
    content: bytes | None = None
    place: tuple[int, int] | None = None
    is_dynamic: bool = False
    external: str = ""
    name: str = ""

    @property
    def is_output(self) -> bool:
        return bool(self.sizes) and self.content is None


@dataclass(frozen=True)
class TensorList:
    tensors: tuple[Tensor, ...]


@dataclass(frozen=True)
class OptionalTensorList:
    tensors: tuple[Tensor | None, ...]


@dataclass(frozen=True)
class IntList:
    items: tuple[int, ...]


@dataclass(frozen=True)
class DoubleList:
    items: tuple[float, ...]


@dataclass(frozen=True)
class BoolList:
    items: tuple[bool, ...]


class Result:
    """The place of what a call returns, which is an output."""


Value = (
    Tensor
    | TensorList
    | OptionalTensorList
    | IntList
    | DoubleList
    | BoolList
    | Result
    | bool
    | int
    | float
    | str
    | None
)
# The memory that is planned for each output.
_OUTPUT_SIZE = 1024


@dataclass(frozen=True)
class Call:
    """A call of an operator, with all its values: the arguments, and what it returns."""

    operator: str
    values: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Move:
    """An instruction that makes a value another value."""

    source: Value
    target: Value

    @property
    def values(self) -> tuple[Value, ...]:
        return self.source, self.target


@dataclass(frozen=True)
class JumpIfFalse:
    """An instruction that continues at the instruction of a number if a value is false."""

    condition: Value
    target: int

    @property
    def values(self) -> tuple[Value, ...]:
        return (self.condition,)


@dataclass(frozen=True)
class Free:
    """An instruction that frees a tensor, of an old exporter."""

    tensor: Tensor

    @property
    def values(self) -> tuple[Value, ...]:
        return (self.tensor,)


Instruction = str | Call | Move | JumpIfFalse | Free


@dataclass(frozen=True)
class Method:
    """A method with an interface and a plan of memory. All its tensors have the places that they say.

    Attributes:
        instructions: its instructions.
        inputs: its inputs.
        outputs: its outputs.
        memory: the sizes of its planned memories.
    """

    instructions: Sequence[Instruction]
    inputs: tuple[Value, ...] = ()
    outputs: tuple[Value, ...] = ()
    memory: tuple[int, ...] = ()


def build(
    methods: Mapping[str, Sequence[Sequence[Instruction]] | Method],
    unused: Sequence[str] = (),
    header: bool = True,
    version: int = 0,
    backends: Sequence[str] = (),
) -> bytes:
    """A program's bytes.

    Args:
        methods: each method, or its chains, each of which is the instructions in order. An operator's name stands for
            a call without values, `delegate` for a call of a delegate. With chains, there are no inputs, and each
            tensor that may be an output is one, in memory of its own.
        unused: operators that each method lists and does not call.
        header: whether to put the extended header after the identifier, as exporters do.
        version: the version of the schema that the program says it has.
        backends: the names of the backends that each method delegates to.
    """
    builder = flatbuffers.Builder()
    constants, initial = _Constants(), _Constants()
    plans = [
        _plan(builder, (constants, initial), name, method, unused=unused, backends=backends)
        for name, method in methods.items()
    ]
    plan_vector = _vector(builder, _schema.ProgramStartExecutionPlanVector, plans)
    content = bytes(constants.content + initial.content)
    segments: tuple[int, int, int] | None = None
    if content:
        first, constant_places = constants.write(builder, 0, 0)
        second, initial_places = initial.write(builder, 1, len(constants.content))
        segments = (
            _vector(builder, _schema.ProgramStartSegmentsVector, [first, second]),
            constant_places,
            _vector(builder, _schema.ProgramStartMutableDataSegmentsVector, [initial_places]),
        )
    _schema.ProgramStart(builder)
    _schema.ProgramAddVersion(builder, version)
    _schema.ProgramAddExecutionPlan(builder, plan_vector)
    if segments:
        _schema.ProgramAddSegments(builder, segments[0])
        _schema.ProgramAddConstantSegment(builder, segments[1])
        _schema.ProgramAddMutableDataSegments(builder, segments[2])
    builder.Finish(_schema.ProgramEnd(builder), b"ET12")
    data = bytes(builder.Output())
    if not header:
        return data
    # The header lies between the identifier and the content, which moves back by the header's size.
    size = 32
    (root,) = struct.unpack_from("<I", data)
    start = len(data) + size
    content += bytes(_LAST_SEGMENT)
    extended = struct.pack("<4sIQQQ", b"eh00", size, start, start, len(content))
    return struct.pack("<I", root + size) + data[4:8] + extended + data[8:] + content


def write_large(path: str, program: bytes, size: int) -> None:
    """Writes a program with a header so that its segments fill the file up to a size; they are a hole in the file."""
    with open(path, "wb") as file:
        file.write(program[:_SEGMENTS_SIZE])
        file.write(struct.pack("<Q", size - len(program) + _LAST_SEGMENT))
        file.write(program[_SEGMENTS_SIZE + 8 :])
        file.truncate(size)


def repeat(methods: int, chains: int, instructions: int, operators: int = 1, name: str = "aten::add") -> bytes:
    """A program in which every vector holds one part as often as is said, which takes a word each."""
    builder = flatbuffers.Builder()
    operator = _vector(builder, _schema.ExecutionPlanStartOperatorsVector, [_operator(builder, name)] * operators)
    _schema.KernelCallStart(builder)
    call = _schema.KernelCallEnd(builder)
    _schema.InstructionStart(builder)
    _schema.InstructionAddInstrArgsType(builder, _schema.InstructionArguments.KernelCall)
    _schema.InstructionAddInstrArgs(builder, call)
    instruction = _schema.InstructionEnd(builder)
    vector = _vector(builder, _schema.ChainStartInstructionsVector, [instruction] * instructions)
    _schema.ChainStart(builder)
    _schema.ChainAddInstructions(builder, vector)
    chain = _schema.ChainEnd(builder)
    vector = _vector(builder, _schema.ExecutionPlanStartChainsVector, [chain] * chains)
    _schema.ExecutionPlanStart(builder)
    _schema.ExecutionPlanAddOperators(builder, operator)
    _schema.ExecutionPlanAddChains(builder, vector)
    plan = _schema.ExecutionPlanEnd(builder)
    vector = _vector(builder, _schema.ProgramStartExecutionPlanVector, [plan] * methods)
    _schema.ProgramStart(builder)
    _schema.ProgramAddExecutionPlan(builder, vector)
    builder.Finish(_schema.ProgramEnd(builder), b"ET12")
    return bytes(builder.Output())


def bundle(program: bytes) -> bytes:
    """A bundled program around a program, without test cases."""
    bundled: Any = importlib.import_module("codegen.inputs.bundled_program_schema_generated")
    builder = flatbuffers.Builder()
    vector = builder.CreateByteVector(program)
    bundled.BundledProgramStart(builder)
    bundled.BundledProgramAddProgram(builder, vector)
    builder.Finish(bundled.BundledProgramEnd(builder), b"BP08")
    return bytes(builder.Output())


def tensor_data(tensors: Mapping[str, Tensor]) -> bytes:
    """A file of tensor data (.ptd) with the contents of tensors."""
    builder = flatbuffers.Builder()
    content = bytearray()
    segments: list[int] = []
    named: list[int] = []
    for number, (name, tensor) in enumerate(tensors.items()):
        data = tensor.content or b""
        key = builder.CreateString(name)
        dim_order = builder.CreateByteVector(bytes(tensor.dim_order))
        sizes = _ints(builder, lambda b, n: b.StartVector(4, n, 4), tensor.sizes)
        # The fields are those of TensorLayout, NamedData, DataSegment and FlatTensor in flat_tensor.fbs.
        builder.StartObject(3)
        builder.PrependInt8Slot(0, tensor.dtype, 0)
        builder.PrependUOffsetTRelativeSlot(1, sizes, 0)
        builder.PrependUOffsetTRelativeSlot(2, dim_order, 0)
        layout = builder.EndObject()
        builder.StartObject(3)
        builder.PrependUOffsetTRelativeSlot(0, key, 0)
        builder.PrependUint32Slot(1, number, 0)
        builder.PrependUOffsetTRelativeSlot(2, layout, 0)
        named.append(builder.EndObject())
        builder.StartObject(2)
        builder.PrependUint64Slot(0, len(content), 0)
        builder.PrependUint64Slot(1, len(data), 0)
        segments.append(builder.EndObject())
        content += data
    vectors = [_vector(builder, lambda b, n: b.StartVector(4, n, 4), offsets) for offsets in (segments, named)]
    builder.StartObject(3)
    for field, vector in enumerate(vectors, 1):
        builder.PrependUOffsetTRelativeSlot(field, vector, 0)
    builder.Finish(builder.EndObject(), b"FT01")
    buffer = bytes(builder.Output())
    size = 40
    header = struct.pack("<4sIQQQQ", b"FH01", size, 0, len(buffer) + size, len(buffer) + size, len(content))
    (root,) = struct.unpack_from("<I", buffer)
    return struct.pack("<I", root + size) + buffer[4:8] + header + buffer[8:] + content


class _Constants:
    """The contents of tensors, which are a segment after the program."""

    def __init__(self) -> None:
        self.content = bytearray()
        # The first stands for no content.
        self._offsets = [0]

    def add(self, content: bytes) -> int:
        """Adds a tensor's content, and gives its index."""
        self._offsets.append(len(self.content))
        self.content += content + bytes(-len(content) % 16)
        return len(self._offsets) - 1

    def write(self, builder: Any, segment_index: int, segment_offset: int) -> tuple[int, int]:
        """Writes the segment, and the table of the contents' places in the segment."""
        _schema.SubsegmentOffsetsStartOffsetsVector(builder, len(self._offsets))
        for offset in reversed(self._offsets):
            builder.PrependUint64(offset)
        offsets = builder.EndVector()
        _schema.SubsegmentOffsetsStart(builder)
        _schema.SubsegmentOffsetsAddSegmentIndex(builder, segment_index)
        _schema.SubsegmentOffsetsAddOffsets(builder, offsets)
        places = _schema.SubsegmentOffsetsEnd(builder)
        _schema.DataSegmentStart(builder)
        _schema.DataSegmentAddOffset(builder, segment_offset)
        _schema.DataSegmentAddSize(builder, len(self.content))
        return int(_schema.DataSegmentEnd(builder)), places


def _plan(
    builder: Any,
    contents: tuple[_Constants, _Constants],
    name: str,
    method: Sequence[Sequence[Instruction]] | Method,
    *,
    unused: Sequence[str],
    backends: Sequence[str],
) -> int:
    is_planned = isinstance(method, Method)
    given = [method.instructions] if isinstance(method, Method) else method
    chains = [[Call(each) if isinstance(each, str) else each for each in chain] for chain in given]
    instructions = [instruction for chain in chains for instruction in chain]
    called = [each.operator for each in instructions if isinstance(each, Call) and each.operator != "delegate"]
    operators = list(dict.fromkeys([*unused, *called]))
    values = _Values(builder, contents, is_planned)
    arguments = {id(each): [values.add(value) for value in each.values] for each in instructions}
    inputs = [values.add(value) for value in method.inputs] if isinstance(method, Method) else []
    outputs = [values.add(value) for value in method.outputs] if isinstance(method, Method) else values.outputs
    value_vector = _vector(builder, _schema.ExecutionPlanStartValuesVector, values.offsets)
    operator_vector = _vector(
        builder, _schema.ExecutionPlanStartOperatorsVector, [_operator(builder, operator) for operator in operators]
    )
    chain_vector = _vector(
        builder,
        _schema.ExecutionPlanStartChainsVector,
        [_chain(builder, chain, operators, arguments) for chain in chains],
    )
    delegate_vector = _vector(
        builder, _schema.ExecutionPlanStartDelegatesVector, [_delegate(builder, backend) for backend in backends]
    )
    input_vector = _ints(builder, _schema.ExecutionPlanStartInputsVector, inputs)
    output_vector = _ints(builder, _schema.ExecutionPlanStartOutputsVector, outputs)
    # The first memory is that of constants.
    sizes = (0, *(method.memory if isinstance(method, Method) else [_OUTPUT_SIZE * len(outputs)]))
    _schema.ExecutionPlanStartNonConstBufferSizesVector(builder, len(sizes))
    for size in reversed(sizes):
        builder.PrependInt64(size)
    size_vector = builder.EndVector()
    name_offset = builder.CreateString(name)
    _schema.ExecutionPlanStart(builder)
    _schema.ExecutionPlanAddName(builder, name_offset)
    _schema.ExecutionPlanAddValues(builder, value_vector)
    _schema.ExecutionPlanAddOperators(builder, operator_vector)
    _schema.ExecutionPlanAddChains(builder, chain_vector)
    _schema.ExecutionPlanAddDelegates(builder, delegate_vector)
    _schema.ExecutionPlanAddInputs(builder, input_vector)
    _schema.ExecutionPlanAddOutputs(builder, output_vector)
    _schema.ExecutionPlanAddNonConstBufferSizes(builder, size_vector)
    return int(_schema.ExecutionPlanEnd(builder))


def _delegate(builder: Any, backend: str) -> int:
    name = builder.CreateString(backend)
    _schema.BackendDelegateStart(builder)
    _schema.BackendDelegateAddId(builder, name)
    return int(_schema.BackendDelegateEnd(builder))


class _Values:
    """The values of a method, as they are written."""

    def __init__(self, builder: Any, contents: tuple[_Constants, _Constants], is_planned: bool) -> None:
        self._builder = builder
        self._constants, self._initial = contents
        self._is_planned = is_planned
        self.offsets: list[int] = []
        # The indices of the values that are outputs.
        self.outputs: list[int] = []
        self._indices: dict[int, int] = {}

    def add(self, value: Value) -> int:
        """Writes a value, unless it is an object that was written before, and gives its index."""
        if id(value) not in self._indices:
            self._indices[id(value)] = self._write(value)
            if isinstance(value, Result) or (isinstance(value, Tensor) and value.is_output):
                self.outputs.append(self._indices[id(value)])
        return self._indices[id(value)]

    def _write(self, value: Value) -> int:
        kinds = _schema.KernelTypes
        if isinstance(value, Tensor):
            kind, offset = kinds.Tensor, self._tensor(value)
        elif isinstance(value, TensorList):
            kind, offset = kinds.TensorList, self._tensors("TensorList", value.tensors)
        elif isinstance(value, OptionalTensorList):
            kind, offset = kinds.OptionalTensorList, self._tensors("OptionalTensorList", value.tensors)
        elif isinstance(value, IntList):
            # The runtime keeps integers in lists as values of their own.
            kind = kinds.IntList
            offset = self._table("IntList", "Items", self._numbers("IntList", "Int64", [*map(self.add, value.items)]))
        elif isinstance(value, DoubleList):
            kind = kinds.DoubleList
            offset = self._table("DoubleList", "Items", self._numbers("DoubleList", "Float64", value.items))
        elif isinstance(value, BoolList):
            kind = kinds.BoolList
            offset = self._table("BoolList", "Items", self._numbers("BoolList", "Bool", value.items))
        elif value is None or isinstance(value, Result):
            kind, offset = kinds.Null, self._table("Null")
        elif isinstance(value, str):
            kind, offset = kinds.String, self._table("String", "StringVal", self._builder.CreateString(value))
        elif isinstance(value, bool):
            kind, offset = kinds.Bool, self._table("Bool", "BoolVal", value)
        elif isinstance(value, float):
            kind, offset = kinds.Double, self._table("Double", "DoubleVal", value)
        else:
            kind, offset = kinds.Int, self._table("Int", "IntVal", value)
        _schema.EValueStart(self._builder)
        _schema.EValueAddValType(self._builder, kind)
        _schema.EValueAddVal(self._builder, offset)
        self.offsets.append(_schema.EValueEnd(self._builder))
        return len(self.offsets) - 1

    def _tensor(self, tensor: Tensor) -> int:
        dim_order = self._builder.CreateByteVector(bytes(tensor.dim_order))
        sizes = _ints(self._builder, _schema.TensorStartSizesVector, tensor.sizes)
        contents = self._constants if tensor.place is None else self._initial
        constant = 0 if tensor.content is None else contents.add(tensor.content)
        place = tensor.place
        if tensor.is_output and not self._is_planned:
            place = 1, _OUTPUT_SIZE * len(self.outputs)
        allocation = 0
        if place is not None:
            _schema.AllocationDetailsStart(self._builder)
            _schema.AllocationDetailsAddMemoryId(self._builder, place[0])
            _schema.AllocationDetailsAddMemoryOffsetLow(self._builder, place[1] & 0xFFFFFFFF)
            _schema.AllocationDetailsAddMemoryOffsetHigh(self._builder, place[1] >> 32)
            allocation = _schema.AllocationDetailsEnd(self._builder)
        extra = 0
        if tensor.external or tensor.name:
            key = self._builder.CreateString(tensor.external or tensor.name)
            location = _schema.TensorDataLocation
            _schema.ExtraTensorInfoStart(self._builder)
            _schema.ExtraTensorInfoAddFullyQualifiedName(self._builder, key)
            _schema.ExtraTensorInfoAddLocation(
                self._builder, location.EXTERNAL if tensor.external else location.SEGMENT
            )
            extra = _schema.ExtraTensorInfoEnd(self._builder)
        _schema.TensorStart(self._builder)
        _schema.TensorAddScalarType(self._builder, tensor.dtype)
        _schema.TensorAddDimOrder(self._builder, dim_order)
        _schema.TensorAddSizes(self._builder, sizes)
        _schema.TensorAddDataBufferIdx(self._builder, constant)
        if tensor.is_dynamic:
            _schema.TensorAddShapeDynamism(self._builder, _schema.TensorShapeDynamism.DYNAMIC_BOUND)
        if allocation:
            _schema.TensorAddAllocationInfo(self._builder, allocation)
        if extra:
            _schema.TensorAddExtraTensorInfo(self._builder, extra)
        return int(_schema.TensorEnd(self._builder))

    def _tensors(self, table: str, tensors: Sequence[Tensor | None]) -> int:
        items = [-1 if tensor is None else self.add(tensor) for tensor in tensors]
        return self._table(table, "Items", self._numbers(table, "Int32", items))

    def _numbers(self, table: str, kind: str, numbers: Sequence[float]) -> int:
        """A table's vector `items` of numbers of a kind."""
        getattr(_schema, f"{table}StartItemsVector")(self._builder, len(numbers))
        for number in reversed(numbers):
            getattr(self._builder, f"Prepend{kind}")(number)
        return int(self._builder.EndVector())

    def _table(self, table: str, field: str = "", content: float = 0) -> int:
        """A table with at most one field."""
        getattr(_schema, f"{table}Start")(self._builder)
        if field:
            getattr(_schema, f"{table}Add{field}")(self._builder, content)
        return int(getattr(_schema, f"{table}End")(self._builder))


def _operator(builder: Any, full_name: str) -> int:
    name, _, overload = full_name.partition(".")
    name_offset, overload_offset = builder.CreateString(name), builder.CreateString(overload)
    _schema.OperatorStart(builder)
    _schema.OperatorAddName(builder, name_offset)
    _schema.OperatorAddOverload(builder, overload_offset)
    return int(_schema.OperatorEnd(builder))


def _chain(
    builder: Any,
    instructions: Sequence[Call | Move | JumpIfFalse | Free],
    operators: Sequence[str],
    arguments: Mapping[int, Sequence[int]],
) -> int:
    offsets = [_instruction(builder, each, operators, arguments[id(each)]) for each in instructions]
    vector = _vector(builder, _schema.ChainStartInstructionsVector, offsets)
    _schema.ChainStart(builder)
    _schema.ChainAddInstructions(builder, vector)
    return int(_schema.ChainEnd(builder))


def _instruction(
    builder: Any, instruction: Call | Move | JumpIfFalse | Free, operators: Sequence[str], arguments: Sequence[int]
) -> int:
    kinds = _schema.InstructionArguments
    if isinstance(instruction, Move):
        kind = kinds.MoveCall
        _schema.MoveCallStart(builder)
        _schema.MoveCallAddMoveFrom(builder, arguments[0])
        _schema.MoveCallAddMoveTo(builder, arguments[1])
        called = _schema.MoveCallEnd(builder)
    elif isinstance(instruction, JumpIfFalse):
        kind = kinds.JumpFalseCall
        _schema.JumpFalseCallStart(builder)
        _schema.JumpFalseCallAddCondValueIndex(builder, arguments[0])
        _schema.JumpFalseCallAddDestinationInstruction(builder, instruction.target)
        called = _schema.JumpFalseCallEnd(builder)
    elif isinstance(instruction, Free):
        kind = kinds.FreeCall
        _schema.FreeCallStart(builder)
        _schema.FreeCallAddValueIndex(builder, arguments[0])
        called = _schema.FreeCallEnd(builder)
    elif instruction.operator == "delegate":
        kind = kinds.DelegateCall
        _schema.DelegateCallStart(builder)
        called = _schema.DelegateCallEnd(builder)
    else:
        kind = kinds.KernelCall
        vector = _ints(builder, _schema.KernelCallStartArgsVector, arguments)
        _schema.KernelCallStart(builder)
        _schema.KernelCallAddOpIndex(builder, operators.index(instruction.operator))
        _schema.KernelCallAddArgs(builder, vector)
        called = _schema.KernelCallEnd(builder)
    _schema.InstructionStart(builder)
    _schema.InstructionAddInstrArgsType(builder, kind)
    _schema.InstructionAddInstrArgs(builder, called)
    return int(_schema.InstructionEnd(builder))


def _ints(builder: Any, start: Any, numbers: Sequence[int]) -> int:
    start(builder, len(numbers))
    for number in reversed(numbers):
        builder.PrependInt32(number)
    return int(builder.EndVector())


def _vector(builder: Any, start: Any, offsets: Sequence[int]) -> int:
    start(builder, len(offsets))
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())
