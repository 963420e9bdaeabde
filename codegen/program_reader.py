"""Which operators an ExecuTorch program calls, and with what tensors; of a `.pte` or of a bundled program."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from codegen import bundled_program_schema_generated, kernel_keys, program_generated
from codegen.errors import CodegenError, Finding
from codegen.kernel_keys import TensorKind

_T = TypeVar("_T")

# Identifiers of other files that are easily taken for a program, at the same place in the file.
_OTHER_FILES = {b"FT01": "a tensor data file (.ptd)"}
# The header between a program's first eight bytes and its content: its magic, its own size, the program's size, and
# where the segments behind it begin; newer exporters add the segments' size.
_HEADER_OFFSET = 8
_HEADER_MAGIC = b"eh00"
_HEADER = struct.Struct("<4sIQQ")
_SEGMENTS_SIZE = struct.Struct("<Q")
# How many dimensions the runtime lets a tensor have.
_MAX_DIMENSIONS = 16
# The place of a tensor that is not given, in a list of optional tensors.
_NONE = -1
# flatc reads a vector's elements one by one, which is most of the time that a model takes. Where a vector's field is in
# its table never changes, or older programs could not be read.
_BUNDLED_PROGRAM, _KERNEL_CALL_ARGS, _TENSOR_DIM_ORDER = 8, 6, 10
# The newest schema version that the runtime knows: ExecuTorch raises it when older runtimes cannot read its programs.
MAX_VERSION = 0
_KIND_NAMES = {number: kind for kind, number in vars(program_generated.KernelTypes).items() if isinstance(number, int)}
# What flatbuffers' accessors raise when offsets in the file lead nowhere.
_BROKEN = (struct.error, LookupError, TypeError, ValueError, OverflowError, AttributeError)


def operators(path: str, name: str) -> frozenset[str]:
    """The full names of the operators that any method of a program calls: `aten::add.out`.

    Args and errors are those of `calls`.
    """
    return frozenset(calls(path, name))


def calls(path: str, name: str) -> Mapping[str, frozenset[str]]:
    """The operators that any method of a program calls, each with the kernel keys of its calls.

    A call's key is the one that the runtime looks a kernel up by. Where a list among the call's values holds tensors of
    a dtype that the key does not name, there is a key of that dtype alone besides: the kernel meets it, too.

    What a delegate runs is not among them: it brings its own.

    Args:
        path: the program's file.
        name: what to call the program in errors, for example its label.

    Raises:
        CodegenError: the file is not a whole program.
    """
    found: dict[str, set[str]] = {}

    def visit(plan: program_generated.ExecutionPlan, budget: _Budget) -> None:
        values = _Values(plan, budget)
        for operator, arguments in _calls_of_method(plan, budget):
            found.setdefault(operator, set()).update(_keys(values, arguments, budget))

    _read(path, name, visit)
    return {operator: frozenset(keys) for operator, keys in found.items()}


def signatures(path: str, name: str) -> Mapping[str, frozenset[tuple[str, ...]]]:
    """The operators that any method of a program calls, each with the kinds of its calls' values.

    A kind is named as in program.fbs, such as `Tensor`; the last value of a call is what it returns. Args and errors
    are those of `calls`.
    """
    found: dict[str, set[tuple[str, ...]]] = {}

    def visit(plan: program_generated.ExecutionPlan, budget: _Budget) -> None:
        kinds = [_KIND_NAMES[_present(plan.Values(v)).ValType()] for v in budget.range(plan.ValuesLength())]
        for operator, arguments in _calls_of_method(plan, budget):
            if not all(0 <= argument < len(kinds) for argument in arguments):
                raise ValueError(f"a call of {operator} with values that are not there")
            found.setdefault(operator, set()).add(tuple(kinds[argument] for argument in arguments))

    _read(path, name, visit)
    return {operator: frozenset(of_operator) for operator, of_operator in found.items()}


def _read(path: str, name: str, visit: Callable[[program_generated.ExecutionPlan, _Budget], None]) -> None:
    """Reads each method of a program."""
    try:
        data = _map(path)
    except OSError as error:
        raise CodegenError(
            Finding(
                id="unreadable-file",
                where=name,
                found=f"cannot read the program {Path(path).name}: {error.strerror}",
                cause="the path is wrong, or the file was not declared as an input",
                fix="name an existing .pte file",
            )
        ) from error
    try:
        data = _unbundled(data, name)
        _check_is_program(data, name)
        program = program_generated.Program.GetRootAs(data)
        if program.Version() > MAX_VERSION:
            raise CodegenError(_newer(name, program.Version()))
        budget = _Budget(len(data))
        for p in budget.range(program.ExecutionPlanLength()):
            visit(_present(program.ExecutionPlan(p)), budget)
        has_methods = program.ExecutionPlanLength() > 0
    except _BROKEN as error:
        raise _damaged(name, f"the program is damaged: its content cannot be followed ({error})") from error
    if not has_methods:
        raise _damaged(name, "the program has no methods")


def _map(path: str) -> memoryview:
    """The file's content; of a large program only what is looked at is read, which leaves the weights on the disk."""
    with Path(path).open("rb") as file:
        is_empty = file.seek(0, os.SEEK_END) == 0
        return memoryview(b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _unbundled(data: memoryview, name: str) -> memoryview:
    """The program within a bundled program, or the data as they are."""
    bundled = bundled_program_schema_generated.BundledProgram
    if len(data) < _HEADER_OFFSET or not bundled.BundledProgramBufferHasIdentifier(data, 0):
        return data
    bundle = bundled.GetRootAs(data)
    size = bundle.ProgramLength()
    if size == 0:
        raise _damaged(name, "the bundled program holds no program")
    start = bundle._tab.Vector(bundle._tab.Offset(_BUNDLED_PROGRAM))
    if start + size > len(data):
        raise _damaged(name, f"the program is truncated: the file has {len(data)} bytes of at least {start + size}")
    return data[start : start + size]


class _Budget:
    """Bounds the work by the file's size.

    A file that holds each part once cannot hold more parts than words. One that names the same parts over and over can
    ask for years of work in a few kilobytes, and so can a length that no file has.
    """

    def __init__(self, size: int) -> None:
        self._left = size // 4

    def spend(self, parts: int) -> None:
        self._left -= parts
        if self._left < 0:
            raise ValueError("it names more parts than it can hold")

    def range(self, length: int) -> range:
        """The indices of a vector of parts."""
        self.spend(length)
        return range(length)


def _calls_of_method(plan: program_generated.ExecutionPlan, budget: _Budget) -> Iterator[tuple[str, Sequence[int]]]:
    """The operators of a method's calls with the indices of each call's values."""
    names = [_operator_name(_present(plan.Operators(o)), budget) for o in budget.range(plan.OperatorsLength())]
    for c in budget.range(plan.ChainsLength()):
        chain = _present(plan.Chains(c))
        for i in budget.range(chain.InstructionsLength()):
            instruction = _present(chain.Instructions(i))
            if instruction.InstrArgsType() != program_generated.InstructionArguments.KernelCall:
                continue
            arguments = _present(instruction.InstrArgs())
            call = program_generated.KernelCall()
            call.Init(arguments.Bytes, arguments.Pos)
            index = call.OpIndex()
            if not 0 <= index < len(names):
                raise ValueError(f"operator {index} of {len(names)}")
            length = call.ArgsLength()
            budget.spend(length)
            yield names[index], _vector(call, _KERNEL_CALL_ARGS, length, "i")


def _keys(values: _Values, arguments: Sequence[int], budget: _Budget) -> set[str]:
    """The key of a call with these values, and those of dtypes that only the tensors of a list have."""
    tensors: list[TensorKind] = []
    listed: set[int] = set()
    for argument in arguments:
        value = values.tensors(argument)
        if isinstance(value, TensorKind):
            tensors.append(value)
        else:
            budget.spend(len(value))
            listed.update(tensor.dtype for tensor in value)
    return {
        kernel_keys.render(tensors),
        *(kernel_keys.of_dtype(dtype) for dtype in listed.difference(tensor.dtype for tensor in tensors)),
    }


class _Values:
    """The values of a method, each of which is read once."""

    def __init__(self, plan: program_generated.ExecutionPlan, budget: _Budget) -> None:
        self._plan = plan
        self._budget = budget
        self._length = plan.ValuesLength()
        self._read: dict[int, TensorKind | tuple[TensorKind, ...]] = {}

    def tensors(self, index: int) -> TensorKind | tuple[TensorKind, ...]:
        """The value, if it is a tensor, or else the tensors in it."""
        if index not in self._read:
            value = self._value(index)
            self._read[index] = _tensor(value) or tuple(self._listed(value))
        return self._read[index]

    def _listed(self, value: program_generated.EValue) -> Iterator[TensorKind]:
        """The tensors of a list; of other values none."""
        kind = value.ValType()
        if kind == program_generated.KernelTypes.TensorList:
            items = program_generated.TensorList()
        elif kind == program_generated.KernelTypes.OptionalTensorList:
            items = program_generated.OptionalTensorList()
        else:
            return
        table = _present(value.Val())
        items.Init(table.Bytes, table.Pos)
        for i in self._budget.range(items.ItemsLength()):
            index = items.Items(i)
            tensor = None if index == _NONE else _tensor(self._value(index))
            if tensor:
                yield tensor

    def _value(self, index: int) -> program_generated.EValue:
        if not 0 <= index < self._length:
            raise ValueError(f"value {index} of {self._length}")
        return _present(self._plan.Values(index))


def _tensor(value: program_generated.EValue) -> TensorKind | None:
    """A value as a tensor, if it is one."""
    if value.ValType() != program_generated.KernelTypes.Tensor:
        return None
    table = _present(value.Val())
    tensor = program_generated.Tensor()
    tensor.Init(table.Bytes, table.Pos)
    dtype, dimensions = tensor.ScalarType(), tensor.DimOrderLength()
    if not kernel_keys.is_dtype(dtype):
        raise ValueError(f"a tensor of dtype {dtype}")
    if dimensions > _MAX_DIMENSIONS:
        raise ValueError(f"a tensor of {dimensions} dimensions")
    return TensorKind(dtype, _vector(tensor, _TENSOR_DIM_ORDER, dimensions, "B"))


def _vector(
    table: program_generated.KernelCall | program_generated.Tensor, field: int, length: int, format_: str
) -> tuple[int, ...]:
    """The elements of one of a table's vectors, of which the format is that of `struct`."""
    if length == 0:
        return ()
    return struct.unpack_from(f"<{length}{format_}", table._tab.Bytes, table._tab.Vector(table._tab.Offset(field)))


def _operator_name(operator: program_generated.Operator, budget: _Budget) -> str:
    name, overload = _present(operator.Name()).decode(), (operator.Overload() or b"").decode()
    budget.spend((len(name) + len(overload)) // 4)
    return f"{name}.{overload}" if overload else name


def _present(value: _T | None) -> _T:
    if value is None:
        raise ValueError("a part is missing")
    return value


def _check_is_program(data: memoryview, name: str) -> None:
    """Checks what can be told without following the content: the identifier, and that the file has its full length."""
    if not data:
        raise _damaged(name, "the program is an empty file")
    identifier = bytes(data[4:8])
    if len(data) < _HEADER_OFFSET or not program_generated.Program.ProgramBufferHasIdentifier(data, 0):
        other = _OTHER_FILES.get(identifier)
        raise CodegenError(
            Finding(
                id="not-a-program",
                where=name,
                found=f"not an ExecuTorch program: {other or 'the file'} "
                f"has the identifier {identifier!r} and not the one of program.fbs",
                cause="another file was given, or the program is from an incompatible version of ExecuTorch",
                fix="give the .pte that executorch.exir's to_executorch() makes",
            )
        )
    expected = _expected_size(data)
    if len(data) < expected:
        raise _damaged(name, f"the program is truncated: the file has {len(data)} bytes of at least {expected}")


def _expected_size(data: memoryview) -> int:
    """How long a program is at least, by what its beginning says."""
    root = int.from_bytes(data[:4], "little")
    if data[_HEADER_OFFSET : _HEADER_OFFSET + len(_HEADER_MAGIC)] != _HEADER_MAGIC:
        return root
    end = _HEADER_OFFSET + _HEADER.size
    if len(data) < end:
        return max(root, end)
    _, header_size, program_size, segments = _HEADER.unpack_from(data, _HEADER_OFFSET)
    if header_size >= _HEADER.size + _SEGMENTS_SIZE.size and len(data) >= end + _SEGMENTS_SIZE.size:
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


def _damaged(name: str, found: str) -> CodegenError:
    return CodegenError(
        Finding(
            id="damaged-program",
            where=name,
            found=found,
            cause="the export or a copy of the file was broken off, or the file was changed afterwards",
            fix="export the model again",
        )
    )
