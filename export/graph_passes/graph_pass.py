"""What a graph pass is, what it looks at, and what it tells of what it did."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs


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
    def of(cls, node: Node, what: str) -> Change:
        """The change of a node, before the node is erased."""
        return cls(node.name, what, node.meta.get("stack_trace") or "")


@dataclass
class Sites:
    """The calls that a pass may rewrite, which the pass takes one after another.

    Where the pass raises, the graph is restored, and the pass runs again without the call that it had come to.

    Attributes:
        program: the method.
        left_out: the names of the calls that the pass does not get.
        current: the call that the pass has come to; None before the first and behind the last.
    """

    program: ExportedProgram
    left_out: Collection[str] = ()
    current: Node | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[Node]:
        """All calls, in the order of the graph, which may change meanwhile."""
        return self.among([node for node in self.program.graph.nodes if node.op == "call_function"])

    def calls(self, *targets: Any) -> Iterator[graphs.Call]:
        """The calls of some operators, in the order of the graph, which may change meanwhile."""
        return self.among(list(graphs.calls(self.program, *targets)))

    def among(self, nodes: Sequence[Node]) -> Iterator[graphs.Call]:
        """Those of some nodes that the pass may rewrite, and that are still in the graph."""
        for node in nodes:
            if node.name not in self.left_out and not node._erased:
                self.current = node
                yield node
        self.current = None


@dataclass(frozen=True)
class GraphPass:
    """A pass. Each file of rewrites/ has one, PASS, and its name.

    Attributes:
        name: as `graph_passes` of the rule calls it.
        stage: what it sees.
        run: changes the program's graph, and what belongs to the graph, in place. It may leave calls and constants that
            nothing uses any more.
        reference: what it does, for its users: a paragraph of Markdown.
        is_default: whether `default` has it: a program needs no operators but ExecuTorch's own behind it.
        after: the passes that run before it, where these are selected.
        preserved: operators that ExecuTorch's lowering leaves whole for it.
    """

    name: str
    stage: Stage
    run: Callable[[ExportedProgram, Sites], Sequence[Change]]
    reference: str
    is_default: bool = False
    after: tuple[str, ...] = ()
    preserved: tuple[torch._ops.OpOverload, ...] = ()
