"""Reads what the instructions of a program call, with what tensors."""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass

from codegen.inputs.flatbuffer import Buffer
from codegen.inputs.program_fields import FIELDS, INSTRUCTIONS, PROGRAM_IDENTIFIER, VALUES
from codegen.model import kernel_keys

_LISTS = {VALUES[kind]: FIELDS[f"{kind}.Items"] for kind in ("TensorList", "OptionalTensorList")}
# The number of a list's element that is no tensor.
_NONE = -1


class NotAProgramError(ValueError):
    """The bytes are no program, or a damaged one."""


@dataclass(frozen=True)
class Call:
    """What an instruction calls. Tensors are texts: `Float [1, 3, 224, 224]`.

    Attributes:
        name: the operator with its overload, or the backend.
        inputs: the tensors that it takes; with a backend, those that it takes and those that it gives.
        outputs: the tensors that it gives; with a backend none, as the program does not tell them apart.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def read(content: bytes, method: str) -> dict[int, Call]:
    """The calls of a method's instructions by number.

    Raises:
        NotAProgramError: the bytes are no program.
    """
    try:
        buffer = Buffer(memoryview(content))
        if not buffer.has_identifier(PROGRAM_IDENTIFIER):
            raise ValueError("the identifier of a program is missing")
        for plan in _tables(buffer, buffer.root, "Program.ExecutionPlan"):
            if _text(buffer, plan, "ExecutionPlan.Name") == method:
                return _Method(buffer, plan).calls()
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        raise NotAProgramError(str(error)) from error
    return {}


def _tables(buffer: Buffer, table: int, field: str) -> list[int]:
    return buffer.tables(buffer.vector(buffer.field(table, FIELDS[field])))


def _text(buffer: Buffer, table: int, field: str) -> str:
    return buffer.text(buffer.vector(buffer.field(table, FIELDS[field])))


class _Method:
    """A method of a program. Each of its values is read once."""

    def __init__(self, buffer: Buffer, plan: int) -> None:
        self._buffer = buffer
        self._chains = _tables(buffer, plan, "ExecutionPlan.Chains")
        self._values = _tables(buffer, plan, "ExecutionPlan.Values")
        self._operators = [
            ".".join(filter(None, (_text(buffer, each, f"Operator.{field}") for field in ("Name", "Overload"))))
            for each in _tables(buffer, plan, "ExecutionPlan.Operators")
        ]
        self._backends = [
            _text(buffer, each, "BackendDelegate.Id") for each in _tables(buffer, plan, "ExecutionPlan.Delegates")
        ]
        # The tensors that values are or have, as indices of values.
        self._tensors: dict[int, tuple[int, ...]] = {}
        self._texts: dict[int, str] = {}

    def calls(self) -> dict[int, Call]:
        # The numbers of instructions begin anew in each chain; ExecuTorch writes one.
        instructions = _tables(self._buffer, self._chains[0], "Chain.Instructions") if self._chains else []
        found = {number: self._call(instruction) for number, instruction in enumerate(instructions)}
        return {number: call for number, call in found.items() if call}

    def _call(self, instruction: int) -> Call | None:
        buffer = self._buffer
        kind = buffer.byte(buffer.field(instruction, FIELDS["Instruction.InstrArgsType"]))
        if kind not in (INSTRUCTIONS["KernelCall"], INSTRUCTIONS["DelegateCall"]):
            return None
        call = buffer.follow(buffer.field(instruction, FIELDS["Instruction.InstrArgs"]))
        if kind == INSTRUCTIONS["DelegateCall"]:
            name = self._backends[buffer.int32(buffer.field(call, FIELDS["DelegateCall.DelegateIndex"]))]
            return Call(
                name,
                tuple(map(self._text, itertools.chain(*map(self._of, self._arguments(call, "DelegateCall.Args"))))),
                (),
            )
        name = self._operators[buffer.int32(buffer.field(call, FIELDS["KernelCall.OpIndex"]))]
        values = self._arguments(call, "KernelCall.Args")
        # The last value of a call is what the kernel returns, which is among its arguments, too.
        returned = self._of(values[-1]) if values else ()
        taken = [tensor for value in values for tensor in self._of(value) if tensor not in returned]
        return Call(name, tuple(map(self._text, taken)), tuple(map(self._text, returned)))

    def _arguments(self, call: int, field: str) -> tuple[int, ...]:
        """The values of a call."""
        return self._buffer.numbers(self._buffer.vector(self._buffer.field(call, FIELDS[field])), "i")

    def _of(self, value: int) -> tuple[int, ...]:
        """The tensors that a value is or has."""
        found = self._tensors.get(value)
        if found is None:
            buffer = self._buffer
            kind = self._kind(value)
            if kind in _LISTS:
                place = buffer.follow(buffer.field(self._values[value], FIELDS["EValue.Val"]))
                items = buffer.numbers(buffer.vector(buffer.field(place, _LISTS[kind])), "i")
                found = tuple(item for item in items if item != _NONE and self._kind(item) == VALUES["Tensor"])
            else:
                found = (value,) if kind == VALUES["Tensor"] else ()
            self._tensors[value] = found
        return found

    def _kind(self, value: int) -> int:
        if not 0 <= value < len(self._values):
            raise ValueError(f"value {value} of {len(self._values)}")
        return self._buffer.byte(self._buffer.field(self._values[value], FIELDS["EValue.ValType"]))

    def _text(self, value: int) -> str:
        text = self._texts.get(value)
        if text is None:
            text = self._texts[value] = self._tensor(
                self._buffer.follow(self._buffer.field(self._values[value], FIELDS["EValue.Val"]))
            )
        return text

    def _tensor(self, tensor: int) -> str:
        buffer = self._buffer
        dtype = buffer.byte(buffer.field(tensor, FIELDS["Tensor.ScalarType"]))
        if not kernel_keys.is_dtype(dtype):
            raise ValueError(f"a tensor of dtype {dtype}")
        sizes = buffer.numbers(buffer.vector(buffer.field(tensor, FIELDS["Tensor.Sizes"])), "i")
        order = buffer.numbers(buffer.vector(buffer.field(tensor, FIELDS["Tensor.DimOrder"])), "B")
        # Of a dynamic shape the program has the largest.
        is_dynamic = buffer.byte(buffer.field(tensor, FIELDS["Tensor.ShapeDynamism"])) != 0
        is_planned = buffer.field(tensor, FIELDS["Tensor.AllocationInfo"]) is not None
        is_constant = buffer.int32(buffer.field(tensor, FIELDS["Tensor.DataBufferIdx"])) > 0 and not is_planned
        return " ".join(
            [
                kernel_keys.dtype_name(dtype),
                *(["at most"] if is_dynamic else []),
                str(list(sizes)),
                *([f"in dim order {list(order)}"] if order != tuple(range(len(sizes))) else []),
                *(["constant"] if is_constant else []),
            ]
        )
