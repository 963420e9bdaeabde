"""Patch: the emission of each method is recorded.

**What**: replaces `_Emitter.run_node` of `executorch.exir.emit._emitter` by the same method, which notes the new
instructions of each node.

**Why**: a program has debug handles only for nodes outside of branches and loops, and no trace of views that need no
instruction. The check of the program and `<name>.origins.json` need the node of each instruction.

**Effect**: without the patch, no program is checked. So the patch is applied to an unknown emitter, too.

**Report**, to ExecuTorch: the emitter should give instructions of branches and loops a debug handle, and the emitted
program should map views without an instruction to their nodes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from executorch.exir import memory
from executorch.exir.emit._emitter import _Emitter, _TopLevelEmitter
from executorch.exir.schema import DelegateCall, KernelCall

from export.patches.patch import Patch

_EMITTER = "executorch.exir.emit._emitter"

PATCH = Patch(
    "recorded_emission",
    known={
        f"{_EMITTER}:_EmitterState": {"1.4.1": "4d3f0fbb7ab3", "1.5.1": "4d3f0fbb7ab3"},
        f"{_EMITTER}:_Emitter.__init__": {"1.4.1": "cb359c25915e", "1.5.1": "cb359c25915e"},
        f"{_EMITTER}:_Emitter.run_node": {"1.4.1": "60d1722948c7", "1.5.1": "60d1722948c7"},
        f"{_EMITTER}:_TopLevelEmitter.__init__": {"1.4.1": "7df8edbd8d0e", "1.5.1": "7df8edbd8d0e"},
        f"{_EMITTER}:_TopLevelEmitter.placeholder": {"1.4.1": "39bd8918cf92", "1.5.1": "39bd8918cf92"},
    },
    without="the export cannot check programs",
    is_needed=True,
)


@dataclass(frozen=True)
class Instruction:
    """An instruction of a method.

    Attributes:
        nodes: the nodes of the enclosing branches and loops, from the outermost, and last the instruction's own node.
        operator: the operator that the instruction calls; empty for a call of a backend.
    """

    nodes: tuple[torch.fx.Node, ...]
    operator: str


@dataclass(frozen=True)
class View:
    """A view without an instruction: a value that the memory plan puts at the place of another value.

    Attributes:
        position: the number of the instruction that follows the view.
        value: the index of the view in the values of the method.
        base: the index of the viewed value.
        nodes: as in `Instruction`.
    """

    position: int
    value: int
    base: int
    nodes: tuple[torch.fx.Node, ...]


@dataclass
class Emission:
    """The emission of a method.

    Attributes:
        instructions: the instructions that call an operator or a backend, by number.
        views: the views without an instruction, in the order of the graph.
        placeholders: the index of the value of each placeholder, by the placeholder's target.
    """

    instructions: dict[int, Instruction] = field(default_factory=dict)
    views: list[View] = field(default_factory=list)
    placeholders: dict[str, int] = field(default_factory=dict)


@contextlib.contextmanager
def recorded() -> Iterator[Mapping[str, Emission]]:
    """Records the emission of each method, by the method's name, while ExecuTorch emits a program."""
    methods: dict[str, Emission] = {}
    emission = Emission()
    nodes: list[torch.fx.Node] = []
    emit = _Emitter.run_node

    def run_node(emitter: _Emitter, node: torch.fx.Node) -> object:
        nonlocal emission
        is_outermost = isinstance(emitter, _TopLevelEmitter)
        if is_outermost:
            emission = methods.setdefault(emitter.name, Emission())
        first = len(emitter.chain.instructions)
        nodes.append(node)
        emitted: Any = emit(emitter, node)
        added = emitter.chain.instructions[first:]
        for index, instruction in enumerate(added, emitter.instruction_start_offset + first):
            # Instructions of a branch or a loop were recorded before, with their own nodes.
            call = instruction.instr_args
            if index not in emission.instructions and isinstance(call, KernelCall | DelegateCall):
                emission.instructions[index] = Instruction(tuple(nodes), _called(emitter, call))
        if node.op == "placeholder" and is_outermost:
            emission.placeholders[str(node.target)] = emitted.id
        if node.target is memory.view and not added:
            base: Any = emitter.env[node.all_input_nodes[0]]
            position = emitter.instruction_start_offset + first
            emission.views.append(View(position, emitted.id, base.id, tuple(nodes)))
        nodes.pop()
        return emitted

    with PATCH.applied(_Emitter, run_node=run_node):
        yield methods


def _called(emitter: _Emitter, call: KernelCall | DelegateCall) -> str:
    if isinstance(call, DelegateCall):
        return ""
    operator = emitter.emitter_state.operators[call.op_index]
    return f"{operator.name}.{operator.overload}" if operator.overload else str(operator.name)
