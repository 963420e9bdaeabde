"""Where the instructions of a program come from: the lines of Python and the modules of the model.

A profile names the instructions that the runtime ran by their numbers only.
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

# A frame of a stack trace as PyTorch keeps it with a node: the file, the line, the function and the code.
_FRAME = re.compile(r'^ *File "([^<].*)", line (\d+), in (.+)$\n?(?! *File ") *(.*)$', re.MULTILINE)
# What packages of Python are installed in.
_PACKAGES = re.compile(r".*/(?:site|dist)-packages/")


@dataclass(frozen=True)
class Instruction:
    """An instruction of a method.

    Attributes:
        nodes: the node that it comes from, behind those of the branches and loops that the node is in.
        operator: the operator that the instruction calls; empty for a call of a backend.
    """

    nodes: tuple[torch.fx.Node, ...]
    operator: str


# The instructions of each method by number.
Instructions = Mapping[str, Mapping[int, Instruction]]


@contextlib.contextmanager
def recorded() -> Iterator[Instructions]:
    """Notes what the instructions come from while ExecuTorch emits a program.

    The program itself has this for the nodes outside of branches and loops only.
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
            # Those of a branch or a loop have been noted with their own nodes.
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
    """Where the instructions of each method come from.

    `methods` has an object for each method, with an object for each instruction by its number: the operator or the
    backend, the module, and the frames of the stack, the innermost last, as indices of `frames`. What a backend took
    has `parts`, one for each node.
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
    """The operator of a node that a backend took."""
    schema: Any = getattr(node.target, "_schema")  # noqa: B009  (PyTorch has no type for what has one)
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)


def _stack(nodes: Sequence[torch.fx.Node]) -> list[tuple[str, int, str, str]]:
    """The lines that lead to the last of some nodes, each within the one before it."""
    return [frame for node in nodes for frame in _frames_of_model(node.meta.get("stack_trace") or "")]


def _frames_of_model(stack_trace: str) -> list[tuple[str, int, str, str]]:
    """The frames of a stack trace, without PyTorch's own before the first of the model and behind the last."""
    stack = list(_frames(stack_trace))
    of_model = [index for index, frame in enumerate(stack) if not frame[0].startswith("torch/")]
    return stack[of_model[0] : of_model[-1] + 1] if of_model else stack


def without_folders(stack_trace: str) -> str:
    """A stack trace with paths that are the same on every machine."""
    return re.sub(r'(?<=File ")([^<"].*?)(?=")', lambda path: _shown(path[0]), stack_trace)


def _frames(stack_trace: str) -> Iterator[tuple[str, int, str, str]]:
    for file, line, function, code in _FRAME.findall(stack_trace):
        yield _shown(file), int(line), function, code


def _shown(file: str) -> str:
    """A path that is the same on every machine: below the working directory, below what packages are installed in, or
    the name alone."""
    packaged = _PACKAGES.sub("", file)
    if packaged != file:
        return packaged
    path = os.path.relpath(file)
    return Path(file).name if path.startswith("..") else path
