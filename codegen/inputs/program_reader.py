"""Reads the calls, the kinds of their tensors and the backends of an ExecuTorch program (`.pte`, also bundled).

Also finds out whether constants are in other files. program_content_reader.py reads the rest.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from codegen.inputs import flatbuffer, program_fields
from codegen.model import kernel_keys
from codegen.model.kernel_keys import TensorKind
from codegen.model.program import Calls, Program
from diagnostics.errors import Finding, InputError

# Identifiers of other files that users may take for a program.
_OTHER_FILES = {b"FT01": "a tensor data file (.ptd)"}
# The header after a program's first eight bytes: the magic, the size of the header, the size of the program, and the
# offset of the segments after the program. Newer exporters add the size of the segments.
HEADER_OFFSET = 8
HEADER_MAGIC = b"eh00"
HEADER = struct.Struct("<4sIQQ")
_SEGMENTS_SIZE = struct.Struct("<Q")
# The runtime's limit of a tensor's dimensions.
_MAX_DIMENSIONS = 16
# The index of None in a list of optional tensors.
_NONE = -1
# The newest schema version that the runtime supports. ExecuTorch increments the version for incompatible changes.
MAX_VERSION = 0


def _numbers(table: str, first: str, second: str) -> tuple[int, int]:
    return program_fields.FIELDS[f"{table}.{first}"], program_fields.FIELDS[f"{table}.{second}"]


# The numbers of fields and of kinds of values.
_BUNDLED_PROGRAM = program_fields.FIELDS["BundledProgram.Program"]
_PROGRAM = _numbers("Program", "Version", "ExecutionPlan")
_NAME = program_fields.FIELDS["ExecutionPlan.Name"]
_VALUES = program_fields.FIELDS["ExecutionPlan.Values"]
_CHAINS = program_fields.FIELDS["ExecutionPlan.Chains"]
_OPERATORS = program_fields.FIELDS["ExecutionPlan.Operators"]
_DELEGATES = program_fields.FIELDS["ExecutionPlan.Delegates"]
_BACKEND = program_fields.FIELDS["BackendDelegate.Id"]
_OPERATOR = _numbers("Operator", "Name", "Overload")
_INSTRUCTIONS = program_fields.FIELDS["Chain.Instructions"]
_INSTRUCTION = _numbers("Instruction", "InstrArgsType", "InstrArgs")
_CALL = _numbers("KernelCall", "OpIndex", "Args")
_VALUE = _numbers("EValue", "ValType", "Val")
_TENSOR = _numbers("Tensor", "ScalarType", "DimOrder")
_EXTRA_INFO = program_fields.FIELDS["Tensor.ExtraTensorInfo"]
_LOCATION = program_fields.FIELDS["ExtraTensorInfo.Location"]
_KERNEL_CALL = program_fields.INSTRUCTIONS["KernelCall"]
_KIND_NAMES = {number: kind for kind, number in program_fields.VALUES.items()}
# The kinds of values with several tensors, and the numbers of the fields with the tensors.
_LISTS = {kind: program_fields.FIELDS[f"{kind}.Items"] for kind in ("TensorList", "OptionalTensorList")}
# Exceptions that the reader raises for invalid offsets.
BROKEN = (struct.error, LookupError, ValueError)


def read(path: str, name: str) -> Program:
    """Reads a program.

    Args:
        path: the program's file.
        name: the program's name in errors, for example the label.

    Raises:
        InputError: the file is not a complete program.
    """
    data = load(path, name)
    calls: defaultdict[str, Calls] = defaultdict(Calls)
    methods: list[str] = []
    backends: set[str] = set()
    has_other_files = False
    try:
        buffer = flatbuffer.Buffer(data)
        version_field, plans_field = buffer.fields(buffer.root, _PROGRAM)
        version = buffer.int32(version_field)
        if version > MAX_VERSION:
            raise InputError(_newer(name, version))
        budget = Budget(len(data))
        plans = buffer.tables(budget.spent(buffer.vector(plans_field)))
        for plan in plans:
            method = _Method(buffer, plan, budget)
            method.read(calls)
            methods.append(method.name())
            backends.update(method.backends())
            has_other_files = has_other_files or method.has_constants_in_other_files()
    except BROKEN as error:
        raise broken(name, error) from error
    if not plans:
        raise _damaged(name, "the program has no methods")
    return Program(calls, tuple(methods), frozenset(backends), has_other_files)


def load(path: str, name: str) -> memoryview:
    """Returns the data of a program that may be bundled.

    Args:
        path: the program's file.
        name: the program's name in errors, for example the label.

    Raises:
        InputError: the file cannot be read, is not a program, or is truncated.
    """
    try:
        data = map_file(path)
    except OSError as error:
        raise InputError.of(
            id="unreadable-file",
            where=name,
            found=f"cannot read the program {Path(path).name}: {error.strerror}",
            cause="the path is wrong, or the file was not declared as an input",
            fix="name an existing .pte file",
        ) from error
    try:
        data = _unbundled(data, name)
        _check_is_program(data, name)
    except BROKEN as error:
        raise broken(name, error) from error
    return data


def map_file(path: str) -> memoryview:
    """Maps the file's content into memory. The weights of a large program stay on the disk."""
    with Path(path).open("rb") as file:
        is_empty = file.seek(0, os.SEEK_END) == 0
        return memoryview(b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _unbundled(data: memoryview, name: str) -> memoryview:
    """Returns the program in a bundled program; other data unchanged."""
    bundle = flatbuffer.Buffer(data)
    if not bundle.has_identifier(program_fields.BUNDLED_PROGRAM_IDENTIFIER):
        return data
    start, size = bundle.vector(bundle.field(bundle.root, _BUNDLED_PROGRAM))
    if size == 0:
        raise _damaged(name, "the bundled program holds no program")
    if start + size > len(data):
        raise _damaged(name, f"the program is truncated: the file has {len(data)} bytes of at least {start + size}")
    return data[start : start + size]


class Budget:
    """Limits the work by the file's size.

    A valid file cannot have more parts than 32-bit words. A malicious file of a few kilobytes could refer to the same
    parts again and again, or have a huge length, and take years to read.
    """

    def __init__(self, size: int) -> None:
        self._left = size // 4

    def spend(self, parts: int) -> None:
        self._left -= parts
        if self._left < 0:
            raise ValueError("it names more parts than it can hold")

    def spent(self, vector: tuple[int, int]) -> tuple[int, int]:
        """Returns the vector, and counts its elements as parts."""
        self.spend(vector[1])
        return vector


class _Method:
    """A method of a program. Each value is read once, for the first call with the value."""

    def __init__(self, buffer: flatbuffer.Buffer, plan: int, budget: Budget) -> None:
        self._buffer = buffer
        self._plan = plan
        self._budget = budget
        self._values = self._parts(plan, _VALUES)
        # The kind and the tensors of each value, by the value's index.
        self._kinds: dict[int, str] = {}
        self._tensors: dict[int, tuple[TensorKind, ...]] = {}

    def name(self) -> str:
        return self._text(self._plan, _NAME)

    def backends(self) -> list[str]:
        return [self._text(delegate, _BACKEND) for delegate in self._parts(self._plan, _DELEGATES)]

    def has_constants_in_other_files(self) -> bool:
        buffer = self._buffer
        for value in self._values:
            kind, place = buffer.fields(value, _VALUE)
            if _KIND_NAMES.get(buffer.byte(kind)) == "Tensor":
                extra = buffer.field(buffer.follow(place), _EXTRA_INFO)
                if extra is not None and buffer.byte(buffer.field(buffer.follow(extra), _LOCATION)):
                    return True
        return False

    def read(self, found: defaultdict[str, Calls]) -> None:
        """Adds the method's calls to `found`, by the operators' names."""
        operators = [self._operator_name(operator) for operator in self._parts(self._plan, _OPERATORS)]
        for operator, arguments in self._calls():
            if not 0 <= operator < len(operators):
                raise ValueError(f"operator {operator} of {len(operators)}")
            self._add(arguments, found[operators[operator]])

    def _text(self, table: int, number: int) -> str:
        vector = self._buffer.vector(self._buffer.field(table, number))
        self._budget.spend(vector[1] // 4)
        return self._buffer.text(vector)

    def _parts(self, table: int, number: int) -> list[int]:
        """Returns the tables in a vector."""
        return self._buffer.tables(self._budget.spent(self._buffer.vector(self._buffer.field(table, number))))

    def _indices(self, field: int | None) -> tuple[int, ...]:
        """Returns the indices of values in a vector."""
        return self._buffer.numbers(self._budget.spent(self._buffer.vector(field)), "i")

    def _calls(self) -> Iterator[tuple[int, Sequence[int]]]:
        """Yields the index of the operator and the indices of the values of each call."""
        buffer = self._buffer
        for chain in self._parts(self._plan, _CHAINS):
            for instruction in self._parts(chain, _INSTRUCTIONS):
                kind, content = buffer.fields(instruction, _INSTRUCTION)
                if buffer.byte(kind) == _KERNEL_CALL:
                    operator, arguments = buffer.fields(buffer.follow(content), _CALL)
                    yield buffer.int32(operator), self._indices(arguments)

    def _add(self, arguments: Sequence[int], found: Calls) -> None:
        tensors: list[TensorKind] = []
        listed: set[int] = set()
        for argument in arguments:
            if argument not in self._kinds:
                self._read_value(argument)
            of_value = self._tensors[argument]
            if self._kinds[argument] == "Tensor":
                tensors += of_value
            elif of_value:
                self._budget.spend(len(of_value))
                listed.update(tensor.dtype for tensor in of_value)
        found.keys.add(kernel_keys.render(tuple(tensors)))
        found.kinds.add(tuple(map(self._kinds.__getitem__, arguments)))
        if listed:
            found.listed.update(listed.difference(tensor.dtype for tensor in tensors))

    def _read_value(self, index: int) -> None:
        kind, value = self._value(index)
        self._tensors[index] = ()
        if kind == "Tensor":
            self._tensors[index] = (self._tensor(value),)
        elif kind in _LISTS:
            items = self._indices(self._buffer.field(self._buffer.follow(value), _LISTS[kind]))
            values = [self._value(item) for item in items if item != _NONE]
            self._tensors[index] = tuple(self._tensor(place) for of_item, place in values if of_item == "Tensor")
        self._kinds[index] = kind

    def _value(self, index: int) -> tuple[str, int | None]:
        """Returns the kind and the place of a value."""
        if not 0 <= index < len(self._values):
            raise ValueError(f"value {index} of {len(self._values)}")
        kind, value = self._buffer.fields(self._values[index], _VALUE)
        return _KIND_NAMES[self._buffer.byte(kind)], value

    def _tensor(self, value: int | None) -> TensorKind:
        buffer = self._buffer
        dtype_field, dim_order_field = buffer.fields(buffer.follow(value), _TENSOR)
        dtype = buffer.byte(dtype_field)
        dim_order = buffer.vector(dim_order_field)
        if not kernel_keys.is_dtype(dtype):
            raise ValueError(f"a tensor of dtype {dtype}")
        if dim_order[1] > _MAX_DIMENSIONS:
            raise ValueError(f"a tensor of {dim_order[1]} dimensions")
        return TensorKind(dtype, buffer.numbers(dim_order, "B"))

    def _operator_name(self, operator: int) -> str:
        parts = list(map(self._buffer.vector, self._buffer.fields(operator, _OPERATOR)))
        self._budget.spend(sum(length for _, length in parts) // 4)
        if not parts[0][1]:
            raise ValueError("an operator without a name")
        return ".".join(filter(None, map(self._buffer.text, parts)))


def _check_is_program(data: memoryview, name: str) -> None:
    """Checks the identifier, and that the file is not truncated."""
    if not data:
        raise _damaged(name, "the program is an empty file")
    identifier = bytes(data[4:8])
    if len(data) < HEADER_OFFSET or identifier != program_fields.PROGRAM_IDENTIFIER:
        other = _OTHER_FILES.get(identifier)
        raise InputError.of(
            id="not-a-program",
            where=name,
            found=f"not an ExecuTorch program: {other or 'the file'} "
            f"has the identifier {identifier!r} and not the one of program.fbs",
            cause="another file was given, or the program is from an incompatible version of ExecuTorch",
            fix="give the .pte that executorch.exir's to_executorch() makes",
        )
    expected = _expected_size(data)
    if len(data) < expected:
        raise _damaged(name, f"the program is truncated: the file has {len(data)} bytes of at least {expected}")


def _expected_size(data: memoryview) -> int:
    """Returns the smallest possible size of a program in bytes, by its header or root offset."""
    root = int.from_bytes(data[:4], "little")
    if data[HEADER_OFFSET : HEADER_OFFSET + len(HEADER_MAGIC)] != HEADER_MAGIC:
        return root
    end = HEADER_OFFSET + HEADER.size
    if len(data) < end:
        return max(root, end)
    _, header_size, program_size, segments = HEADER.unpack_from(data, HEADER_OFFSET)
    if header_size >= HEADER.size + _SEGMENTS_SIZE.size and len(data) >= end + _SEGMENTS_SIZE.size:
        segments += _SEGMENTS_SIZE.unpack_from(data, end)[0]
    return int(max(root, program_size, segments))


def _newer(name: str, version: int) -> Finding:
    return Finding(
        id="newer-program",
        where=name,
        found=f"the program has schema version {version}, but the runtime reads up to {MAX_VERSION}",
        cause="the model was exported by a newer version of ExecuTorch than the runtime is of",
        fix="export with the version of ExecuTorch that the runtime is of, or use a newer runtime",
    )


def broken(name: str, error: Exception) -> InputError:
    """Returns the error for a program with invalid offsets, which raised one of BROKEN."""
    return _damaged(name, f"the program is damaged: its content cannot be followed ({error})")


def _damaged(name: str, found: str) -> InputError:
    return InputError.of(
        id="damaged-program",
        where=name,
        found=found,
        cause="the export or a copy of the file was broken off, or the file was changed afterwards",
        fix="export the model again",
    )
