"""Maps the instructions of a program to the model's modules and lines of Python.

The runtime's profile has the numbers of instructions only.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from executorch.exir.emit._emitter import _Emitter, _TopLevelEmitter
from executorch.exir.schema import DelegateCall, KernelCall

# A frame of a node's stack trace: the file, the line, the function and the code.
_FRAME = re.compile(r'^ *File "([^<].*)", line (\d+), in (.+)$\n?(?! *File ") *(.*)$', re.MULTILINE)
# The folders into which Python packages are installed.
_PACKAGES = re.compile(r".*/(?:site|dist)-packages/")


@dataclass(frozen=True)
class Instruction:
    """An instruction of a method.

    Attributes:
        nodes: the nodes of the enclosing branches and loops, from the outermost, and last the instruction's own node.
        operator: the operator that the instruction calls; empty for a call of a backend.
    """

    nodes: tuple[torch.fx.Node, ...]
    operator: str


# The instructions of each method by number.
Instructions = Mapping[str, Mapping[int, Instruction]]


@contextlib.contextmanager
def recorded() -> Iterator[Instructions]:
    """Records the nodes of instructions while ExecuTorch emits a program.

    The program itself has debug handles only for nodes outside of branches and loops.
    """
    methods: dict[str, dict[int, Instruction]] = {}
    instructions: dict[int, Instruction] = {}
    nodes: list[torch.fx.Node] = []
    emit = _Emitter.run_node

    def run_node(emitter: _Emitter, node: torch.fx.Node) -> object:
        nonlocal instructions
        if isinstance(emitter, _TopLevelEmitter):
            instructions = methods.setdefault(emitter.name, {})
        first = len(emitter.chain.instructions)
        nodes.append(node)
        emitted: object = emit(emitter, node)
        for index, instruction in enumerate(
            emitter.chain.instructions[first:], emitter.instruction_start_offset + first
        ):
            # Instructions of a branch or a loop were recorded before, with their own nodes.
            call = instruction.instr_args
            if index not in instructions and isinstance(call, KernelCall | DelegateCall):
                instructions[index] = Instruction(tuple(nodes), _called(emitter, call))
        nodes.pop()
        return emitted

    with mock.patch.object(_Emitter, "run_node", run_node):
        yield methods


def _called(emitter: _Emitter, call: KernelCall | DelegateCall) -> str:
    if isinstance(call, DelegateCall):
        return ""
    operator = emitter.emitter_state.operators[call.op_index]
    return f"{operator.name}.{operator.overload}" if operator.overload else str(operator.name)


def as_json(methods: Instructions) -> bytes:
    """Returns the origins of all instructions as JSON.

    `methods` has an object for each method, with an object for each instruction by its number: the operator or the
    backend, the module, and the frames of the stack, the innermost last, as indices into `frames`. A call of a backend
    has `parts`, one for each node of the delegated graph.
    """
    frames: dict[tuple[str, int, str, str], int] = {}
    origins = {
        name: {str(number): _origin(instruction, frames) for number, instruction in instructions.items()}
        for name, instructions in methods.items()
    }
    text = json.dumps({"frames": list(frames), "methods": origins}, separators=(",", ":"), sort_keys=True)
    return (text + "\n").encode()


def _origin(instruction: Instruction, frames: dict[tuple[str, int, str, str], int]) -> dict[str, object]:
    *around, node = instruction.nodes
    if not instruction.operator:
        backend: Any = getattr(node.graph.owning_module, str(node.all_input_nodes[0].target))
        taken = [part for part in backend.original_module.graph.nodes if hasattr(part.target, "_schema")]
        parts = [_origin(Instruction((*around, part), _name(part)), frames) for part in taken]
        return {"operator": backend.backend_id, "parts": parts}
    modules = [path for each in instruction.nodes for path, _ in (each.meta.get("nn_module_stack") or {}).values()]
    return {
        "operator": instruction.operator,
        "module": modules[-1] if modules else "",
        "stack": [frames.setdefault(frame, len(frames)) for frame in _stack(instruction.nodes)],
    }


def _name(node: torch.fx.Node) -> str:
    """Returns the name of the operator of a delegated node."""
    schema: Any = getattr(node.target, "_schema")  # noqa: B009  (PyTorch has no type for what has one)
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)


def _stack(nodes: Sequence[torch.fx.Node]) -> list[tuple[str, int, str, str]]:
    """Returns the frames of nested nodes, the outermost first."""
    return [frame for node in nodes for frame in _frames_of_model(node.meta.get("stack_trace") or "")]


def _frames_of_model(stack_trace: str) -> list[tuple[str, int, str, str]]:
    """Returns the frames of a stack trace, without PyTorch's frames before and after the frames of the model."""
    stack = list(_frames(stack_trace))
    of_model = [index for index, frame in enumerate(stack) if not frame[0].startswith("torch/")]
    return stack[of_model[0] : of_model[-1] + 1] if of_model else stack


def without_folders(stack_trace: str) -> str:
    """Returns a stack trace with paths that are the same on every machine."""
    return re.sub(r'(?<=File ")([^<"].*?)(?=")', lambda path: _shown(path[0]), stack_trace)


def _frames(stack_trace: str) -> Iterator[tuple[str, int, str, str]]:
    for file, line, function, code in _FRAME.findall(stack_trace):
        yield _shown(file), int(line), function, code


def _shown(file: str) -> str:
    """Returns a path that is the same on every machine.

    The path is relative to the working directory or to the folder of installed packages. For all other files, the
    result is the file's name.
    """
    packaged = _PACKAGES.sub("", file)
    if packaged != file:
        return packaged
    path = os.path.relpath(file)
    return Path(file).name if path.startswith("..") else path
