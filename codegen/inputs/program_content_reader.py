"""Reads all of an ExecuTorch program (`.pte`, also bundled): values, instructions, memory plan and constants.

program_reader.py reads what a selection needs, which is a small part of the program.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence

from codegen.inputs import flatbuffer, program_fields, program_reader
from codegen.inputs.program_reader import HEADER, HEADER_MAGIC, HEADER_OFFSET, Budget
from codegen.model import kernel_keys
from codegen.model.execution_plan import Content, ExecutionPlan, InputDim, Instruction, List, Place, Tensor, Value

_FIELDS = program_fields.FIELDS
_KINDS = {number: kind for kind, number in program_fields.VALUES.items()}
_INSTRUCTIONS = {number: kind for kind, number in program_fields.INSTRUCTIONS.items()}
# The fields of each kind of instruction except calls.
_NUMBERS = {
    "FreeCall": ("FreeCall.ValueIndex",),
    "JumpFalseCall": ("JumpFalseCall.CondValueIndex", "JumpFalseCall.DestinationInstruction"),
    "MoveCall": ("MoveCall.MoveFrom", "MoveCall.MoveTo"),
}
_ITEMS = {"BoolList": "?", "DoubleList": "d", "IntList": "q", "OptionalTensorList": "i", "TensorList": "i"}
# The dynamism of a tensor whose sizes do not change, and the location of a constant in the program.
_STATIC = 0
_IN_PROGRAM = 0
# The key of the sizes of a method's inputs starts with this text. `export/lower/size_record.py` describes the data.
_INPUT_SIZES = "rules_executorch.input_sizes/"


def read(path: str, name: str) -> Content:
    """Reads a program.

    Args:
        path: the program's file.
        name: the program's name in errors, for example the label.

    Raises:
        InputError: the file is not a complete program of a version that this module knows.
    """
    program_reader.read(path, name)
    try:
        return _Reader(program_reader.load(path, name)).content()
    except program_reader.BROKEN as error:
        raise program_reader.broken(name, error) from error


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._buffer = flatbuffer.Buffer(data)
        self._budget = Budget(len(data))
        self._segments_offset = 0
        if len(data) >= HEADER_OFFSET + HEADER.size:
            magic, _, _, offset = HEADER.unpack_from(data, HEADER_OFFSET)
            self._segments_offset = offset if magic == HEADER_MAGIC else 0

    def content(self) -> Content:
        program = self._buffer.root
        segments = [
            (self._number(segment, "DataSegment.Offset", "Q"), self._number(segment, "DataSegment.Size", "Q"))
            for segment in self._tables(program, "Program.Segments")
        ]
        plans = tuple(self._plan(plan) for plan in self._tables(program, "Program.ExecutionPlan"))
        constants: dict[int, memoryview] = {}
        place = self._buffer.field(program, _FIELDS["Program.ConstantSegment"])
        if place is not None:
            constants.update(self._parts(self._buffer.follow(place), segments))
        # Older exporters have the constants in the tables.
        for i, inline in enumerate(self._tables(program, "Program.ConstantBuffer")):
            start, length = self._buffer.vector(self._buffer.field(inline, _FIELDS["Buffer.Storage"]))
            constants.setdefault(i, self._bytes(start, length))
        initial: dict[int, memoryview] = {}
        for table in self._tables(program, "Program.MutableDataSegments"):
            initial.update(self._parts(table, segments))
        return Content(plans, constants, initial, dict(self._input_sizes(program, segments)))

    def _input_sizes(
        self, program: int, segments: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[str, tuple[tuple[InputDim, ...], ...]]]:
        """Yields the dimensions of each input, by method."""
        for table in self._tables(program, "Program.NamedData"):
            key = self._text(table, "NamedData.Key")
            if key.startswith(_INPUT_SIZES):
                begin, size = segments[self._number(table, "NamedData.SegmentIndex", "I")]
                data = self._bytes(self._segments_offset + begin, size)
                numbers = iter(struct.unpack(f"<{size // 4}i", data[: size // 4 * 4]))
                yield key.removeprefix(_INPUT_SIZES), tuple(_dims(numbers) for _ in range(_next(numbers)))

    def _parts(self, table: int, segments: list[tuple[int, int]]) -> Mapping[int, memoryview]:
        """Returns the parts of a segment by their numbers."""
        offsets = self._numbers(table, "SubsegmentOffsets.Offsets", "Q")
        if not offsets:
            return {}
        begin, size = segments[self._number(table, "SubsegmentOffsets.SegmentIndex", "I")]
        ends = [*offsets[1:], size]
        return {
            i: self._bytes(self._segments_offset + begin + offset, max(end - offset, 0))
            for i, (offset, end) in enumerate(zip(offsets, ends, strict=True))
        }

    def _bytes(self, start: int, length: int) -> memoryview:
        if start + length > len(self._data):
            raise ValueError("a constant after the file")
        return self._data[start : start + length]

    def _plan(self, plan: int) -> ExecutionPlan:
        operators = [
            ".".join(filter(None, (self._text(each, "Operator.Name"), self._text(each, "Operator.Overload"))))
            for each in self._tables(plan, "ExecutionPlan.Operators")
        ]
        (chain,) = self._tables(plan, "ExecutionPlan.Chains")
        values = tuple(self._value(value) for value in self._tables(plan, "ExecutionPlan.Values"))
        instructions = tuple(self._instruction(each, operators) for each in self._tables(chain, "Chain.Instructions"))
        result = ExecutionPlan(
            name=self._text(plan, "ExecutionPlan.Name"),
            values=values,
            inputs=self._numbers(plan, "ExecutionPlan.Inputs", "i"),
            outputs=self._numbers(plan, "ExecutionPlan.Outputs", "i"),
            instructions=instructions,
            # The first size is of no memory.
            memory_sizes=self._numbers(plan, "ExecutionPlan.NonConstBufferSizes", "q")[1:],
            backends=tuple(
                self._text(each, "BackendDelegate.Id") for each in self._tables(plan, "ExecutionPlan.Delegates")
            ),
        )
        _check_indices(result)
        return result

    def _instruction(self, table: int, operators: list[str]) -> Instruction:
        kind, place = self._union(table, "Instruction.InstrArgsType", "Instruction.InstrArgs", _INSTRUCTIONS)
        if kind == "KernelCall":
            index = self._number(place, "KernelCall.OpIndex", "i")
            if not 0 <= index < len(operators):
                raise ValueError(f"operator {index} of {len(operators)}")
            return Instruction(kind, operators[index], self._numbers(place, "KernelCall.Args", "i"))
        if kind == "DelegateCall":
            return Instruction(kind, "", self._numbers(place, "DelegateCall.Args", "i"))
        return Instruction(kind, "", tuple(self._number(place, name, "i") for name in _NUMBERS[kind]))

    def _value(self, table: int) -> Value:
        kind, place = self._union(table, "EValue.ValType", "EValue.Val", _KINDS)
        match kind:
            case "Int":
                return self._number(place, "Int.IntVal", "q")
            case "Bool":
                return bool(self._number(place, "Bool.BoolVal", "B"))
            case "Double":
                return float(self._number(place, "Double.DoubleVal", "d"))
            case "String":
                return self._text(place, "String.StringVal")
            case "Tensor":
                return self._tensor(place)
        if kind in _ITEMS:
            return List(kind, self._numbers(place, f"{kind}.Items", _ITEMS[kind]))
        return None

    def _tensor(self, table: int) -> Tensor:
        buffer = self._buffer
        place, external, name = None, None, ""
        field = buffer.field(table, _FIELDS["Tensor.AllocationInfo"])
        if field is not None:
            details = buffer.follow(field)
            low = self._number(details, "AllocationDetails.MemoryOffsetLow", "I")
            high = self._number(details, "AllocationDetails.MemoryOffsetHigh", "I")
            place = Place(self._number(details, "AllocationDetails.MemoryId", "I"), high << 32 | low)
        field = buffer.field(table, _FIELDS["Tensor.ExtraTensorInfo"])
        if field is not None:
            extra = buffer.follow(field)
            if self._number(extra, "ExtraTensorInfo.Location", "B") != _IN_PROGRAM:
                external = self._text(extra, "ExtraTensorInfo.FullyQualifiedName")
            elif place is not None:
                name = self._text(extra, "ExtraTensorInfo.FullyQualifiedName")
        tensor = Tensor(
            dtype=self._number(table, "Tensor.ScalarType", "b"),
            sizes=self._numbers(table, "Tensor.Sizes", "i"),
            dim_order=self._numbers(table, "Tensor.DimOrder", "B"),
            is_dynamic=self._number(table, "Tensor.ShapeDynamism", "b") != _STATIC,
            data=self._number(table, "Tensor.DataBufferIdx", "I"),
            place=place,
            external=external,
            name=name,
        )
        if not kernel_keys.is_dtype(tensor.dtype):
            raise ValueError(f"a tensor of dtype {tensor.dtype}")
        if sorted(tensor.dim_order) != list(range(len(tensor.sizes))) or any(size < 0 for size in tensor.sizes):
            raise ValueError(f"a tensor of sizes {list(tensor.sizes)} and dim order {list(tensor.dim_order)}")
        return tensor

    def _union(self, table: int, kind: str, content: str, kinds: Mapping[int, str]) -> tuple[str, int]:
        """Returns the kind of a union's content and the place of the content, 0 if there is none."""
        kind_field, field = self._buffer.fields(table, (_FIELDS[kind], _FIELDS[content]))
        return kinds[self._buffer.byte(kind_field)], 0 if field is None else self._buffer.follow(field)

    def _number(self, table: int, name: str, format_: str) -> int:
        return self._buffer.number(table, _FIELDS[name], format_)

    def _numbers(self, table: int, name: str, format_: str) -> tuple[int, ...]:
        vector = self._buffer.vector(self._buffer.field(table, _FIELDS[name]))
        return self._buffer.numbers(self._budget.spent(vector), format_)

    def _tables(self, table: int, name: str) -> list[int]:
        return self._buffer.tables(self._budget.spent(self._buffer.vector(self._buffer.field(table, _FIELDS[name]))))

    def _text(self, table: int, name: str) -> str:
        vector = self._buffer.vector(self._buffer.field(table, _FIELDS[name]))
        self._budget.spend(vector[1] // 4)
        return self._buffer.text(vector)


def _check_indices(plan: ExecutionPlan) -> None:
    """Checks that no index is outside of the values, and no jump outside of the instructions."""
    count = len(plan.values)

    def check(index: int, least: int = 0) -> None:
        if not least <= index < count:
            raise ValueError(f"value {index} of {count}")

    for index in (*plan.inputs, *plan.outputs):
        check(index)
    for value in plan.values:
        if isinstance(value, List) and value.kind not in ("BoolList", "DoubleList"):
            for item in value.items:
                check(int(item), -1 if value.kind == "OptionalTensorList" else 0)
    for instruction in plan.instructions:
        indices = instruction.numbers
        if instruction.kind == "JumpFalseCall":
            indices, target = instruction.numbers[:-1], instruction.numbers[-1]
            if not 0 <= target <= len(plan.instructions):
                raise ValueError(f"a jump to instruction {target} of {len(plan.instructions)}")
        for index in indices:
            check(index)


def _dims(numbers: Iterator[int]) -> tuple[InputDim, ...]:
    """Returns the dimensions of an input, and reads their numbers."""
    return tuple(InputDim(*(_next(numbers) for _ in InputDim._fields)) for _ in range(_next(numbers)))


def _next(numbers: Iterator[int]) -> int:
    number = next(numbers, None)
    if number is None:
        raise ValueError("the sizes of inputs are cut off")
    return number
