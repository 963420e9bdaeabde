"""What a graph pass is, and what it tells of what it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import torch
from torch.export import ExportedProgram


class Stage(Enum):
    """What a pass sees of a method."""

    # The graph as torch.export gives it, with operators whole. Partitioners look for operators of their own choice in
    # it, so methods with partitioners leave out these passes.
    EXPORTED = "exported"
    # ExecuTorch's edge dialect, once the partitioners have taken what they want.
    LOWERED = "lowered"


@dataclass(frozen=True)
class Change:
    """One change that a pass made.

    Attributes:
        node: the node of the graph that changed, which knows the line of the model that it comes from.
        what: what was done, the same words for all changes of a kind.
    """

    node: str
    what: str
    stack_trace: str

    @classmethod
    def of(cls, node: torch.fx.Node, what: str) -> Change:
        """The change of a node, before the node is erased."""
        return cls(node.name, what, node.meta.get("stack_trace") or "")


@dataclass(frozen=True)
class GraphPass:
    """A pass.

    Attributes:
        name: as `graph_passes` of the rule calls it.
        stage: what it sees.
        run: changes the program's graph, and what belongs to the graph, in place.
        preserved: operators that ExecuTorch's lowering leaves whole for it.
    """

    name: str
    stage: Stage
    run: Callable[[ExportedProgram], Sequence[Change]]
    preserved: tuple[torch._ops.OpOverload, ...] = ()
