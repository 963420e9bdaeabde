"""Which operators an ExecuTorch program (`.pte`) calls."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from codegen import program_generated
from codegen.errors import CodegenError, Finding

_T = TypeVar("_T")
Buffer = bytes | mmap.mmap

# Identifiers of other files that are easily taken for a program, at the same place in the file.
_OTHER_FILES = {b"BP08": "a bundled program (.bpte)", b"FT01": "a tensor data file (.ptd)"}
# The header between a program's first eight bytes and its content: its magic, its own size, the program's size, and
# where the segments behind it begin; newer exporters add the segments' size.
_HEADER_OFFSET = 8
_HEADER_MAGIC = b"eh00"
_HEADER = struct.Struct("<4sIQQ")
_SEGMENTS_SIZE = struct.Struct("<Q")
# What flatbuffers' accessors raise when offsets in the file lead nowhere.
_BROKEN = (struct.error, IndexError, TypeError, ValueError, OverflowError, AttributeError)


def operators(path: str, name: str) -> frozenset[str]:
    """The full names of the operators that any method of a program calls: `aten::add.out`.

    What a delegate runs is not among them: it brings its own.

    Args:
        path: the program's file.
        name: what to call the program in errors, for example its label.

    Raises:
        CodegenError: the file is not a whole program.
    """
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
    _check_is_program(data, name)
    try:
        program = program_generated.Program.GetRootAs(data)
        called = frozenset(_called_operators(program))
        has_methods = program.ExecutionPlanLength() > 0
    except _BROKEN as error:
        raise _damaged(name, f"the program is damaged: its content cannot be followed ({error})") from error
    if not has_methods:
        raise _damaged(name, "the program has no methods")
    return called


def _map(path: str) -> Buffer:
    """The file's content; of a large program only what is looked at is read, which leaves the weights on the disk."""
    with Path(path).open("rb") as file:
        is_empty = file.seek(0, os.SEEK_END) == 0
        return b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _called_operators(program: program_generated.Program) -> Iterator[str]:
    for p in range(program.ExecutionPlanLength()):
        plan = _present(program.ExecutionPlan(p))
        names = [_operator_name(_present(plan.Operators(o))) for o in range(plan.OperatorsLength())]
        for c in range(plan.ChainsLength()):
            chain = _present(plan.Chains(c))
            for i in range(chain.InstructionsLength()):
                instruction = _present(chain.Instructions(i))
                if instruction.InstrArgsType() != program_generated.InstructionArguments.KernelCall:
                    continue
                arguments = _present(instruction.InstrArgs())
                call = program_generated.KernelCall()
                call.Init(arguments.Bytes, arguments.Pos)
                index = call.OpIndex()
                if not 0 <= index < len(names):
                    raise ValueError(f"operator {index} of {len(names)}")
                yield names[index]


def _operator_name(operator: program_generated.Operator) -> str:
    name, overload = _present(operator.Name()).decode(), (operator.Overload() or b"").decode()
    return f"{name}.{overload}" if overload else name


def _present(value: _T | None) -> _T:
    if value is None:
        raise ValueError("a part is missing")
    return value


def _check_is_program(data: Buffer, name: str) -> None:
    """Checks what can be told without following the content: the identifier, and that the file has its full length."""
    if not data:
        raise _damaged(name, "the program is an empty file")
    identifier = data[4:8]
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


def _expected_size(data: Buffer) -> int:
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
