"""Small ExecuTorch programs for tests, written with flatc's own builder functions."""

from __future__ import annotations

import importlib
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers

# flatc generates no types.
_schema: Any = importlib.import_module("codegen.program_generated")


def build(methods: Mapping[str, Sequence[Sequence[str]]], unused: Sequence[str] = (), header: bool = True) -> bytes:
    """A program's bytes.

    Args:
        methods: for each method its chains, each of which is the operators that it calls, in order. `delegate` stands
            for a call of a delegate.
        unused: operators that each method lists and does not call.
        header: whether to put the extended header behind the identifier, as exporters do.
    """
    builder = flatbuffers.Builder()
    plans = [_plan(builder, name, chains, unused) for name, chains in methods.items()]
    plan_vector = _vector(builder, _schema.ProgramStartExecutionPlanVector, plans)
    _schema.ProgramStart(builder)
    _schema.ProgramAddExecutionPlan(builder, plan_vector)
    builder.Finish(_schema.ProgramEnd(builder), b"ET12")
    data = bytes(builder.Output())
    if not header:
        return data
    # The header lies between the identifier and the content, which moves back by the header's size.
    size = 32
    (root,) = struct.unpack_from("<I", data)
    segments = len(data) + size
    extended = struct.pack("<4sIQQQ", b"eh00", size, segments, segments, 16)
    return struct.pack("<I", root + size) + data[4:8] + extended + data[8:] + bytes(16)


def _plan(builder: Any, name: str, chains: Sequence[Sequence[str]], unused: Sequence[str]) -> int:
    called = [operator for chain in chains for operator in chain if operator != "delegate"]
    operators = list(dict.fromkeys([*unused, *called]))
    operator_vector = _vector(
        builder, _schema.ExecutionPlanStartOperatorsVector, [_operator(builder, operator) for operator in operators]
    )
    chain_vector = _vector(
        builder, _schema.ExecutionPlanStartChainsVector, [_chain(builder, chain, operators) for chain in chains]
    )
    name_offset = builder.CreateString(name)
    _schema.ExecutionPlanStart(builder)
    _schema.ExecutionPlanAddName(builder, name_offset)
    _schema.ExecutionPlanAddOperators(builder, operator_vector)
    _schema.ExecutionPlanAddChains(builder, chain_vector)
    return int(_schema.ExecutionPlanEnd(builder))


def _operator(builder: Any, full_name: str) -> int:
    name, _, overload = full_name.partition(".")
    name_offset, overload_offset = builder.CreateString(name), builder.CreateString(overload)
    _schema.OperatorStart(builder)
    _schema.OperatorAddName(builder, name_offset)
    _schema.OperatorAddOverload(builder, overload_offset)
    return int(_schema.OperatorEnd(builder))


def _chain(builder: Any, called: Sequence[str], operators: Sequence[str]) -> int:
    instructions = [_instruction(builder, operator, operators) for operator in called]
    vector = _vector(builder, _schema.ChainStartInstructionsVector, instructions)
    _schema.ChainStart(builder)
    _schema.ChainAddInstructions(builder, vector)
    return int(_schema.ChainEnd(builder))


def _instruction(builder: Any, operator: str, operators: Sequence[str]) -> int:
    if operator == "delegate":
        kind = _schema.InstructionArguments.DelegateCall
        _schema.DelegateCallStart(builder)
        arguments = _schema.DelegateCallEnd(builder)
    else:
        kind = _schema.InstructionArguments.KernelCall
        _schema.KernelCallStart(builder)
        _schema.KernelCallAddOpIndex(builder, operators.index(operator))
        arguments = _schema.KernelCallEnd(builder)
    _schema.InstructionStart(builder)
    _schema.InstructionAddInstrArgsType(builder, kind)
    _schema.InstructionAddInstrArgs(builder, arguments)
    return int(_schema.InstructionEnd(builder))


def _vector(builder: Any, start: Any, offsets: Sequence[int]) -> int:
    start(builder, len(offsets))
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())
