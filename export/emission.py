"""How ExecuTorch emitted the graphs of a program: nodes of instructions, views, and placeholders."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch


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
