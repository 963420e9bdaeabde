"""The interface of graph passes: the pass, the calls that the pass visits, and the changes that the pass reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs

# The key of a node's metadata with the name of the graph pass that inserted or changed the node last.
TOUCHED = "rules_executorch_pass"


class Stage(Enum):
    """The stage of the export at which a pass runs."""

    # The graph of torch.export, without decompositions. Partitioners choose which operators stay whole, so these passes
    # do not run on methods with partitioners.
    EXPORTED = "exported"
    # The graph in ExecuTorch's edge dialect, after the partitioners.
    LOWERED = "lowered"


@dataclass(frozen=True)
class Change:
    """One change that a pass made.

    Attributes:
        node: the name of the changed node.
        what: a description of the change, the same text for all changes of a kind.
    """

    node: str
    what: str
    stack_trace: str

    @classmethod
    def of(cls, node: Node, what: str) -> Change:
        """Returns the change of a node. Call this before the node is erased."""
        return cls(node.name, what, node.meta.get("stack_trace") or "")


@dataclass
class Sites:
    """Iterates over the calls that a pass may rewrite.

    If the pass raises, the graph is restored, and the pass runs again without the call `current`.

    Attributes:
        program: the method.
        left_out: the names of the calls to skip.
        current: the call that the pass is rewriting; None before the first and after the last.
    """

    program: ExportedProgram
    left_out: Collection[str] = ()
    current: Node | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[Node]:
        """Yields all calls in the order of the graph. The pass may change the graph during the iteration."""
        return self.among([node for node in self.program.graph.nodes if node.op == "call_function"])

    def calls(self, *targets: Any) -> Iterator[graphs.Call]:
        """Yields the calls of some operators in the order of the graph, which may change during the iteration."""
        return self.among(list(graphs.calls(self.program, *targets)))

    def among(self, nodes: Sequence[Node]) -> Iterator[graphs.Call]:
        """Yields those nodes that the pass may rewrite and that are still in the graph."""
        for node in nodes:
            if node.name not in self.left_out and not node._erased:
                self.current = node
                yield node
        self.current = None


@dataclass(frozen=True)
class GraphPass:
    """A graph pass. Each file of rewrites/ defines one, `PASS`, and has the pass's name.

    Attributes:
        name: the name in `graph_passes` of the rule.
        stage: the stage at which the pass runs.
        run: changes the program's graph, signature and constants in place. May leave unused calls and constants, which
            are removed afterwards.
        reference: the documentation of the pass for users, a paragraph of Markdown.
        is_default: whether the group `default` has the pass. After such a pass, a program needs only ExecuTorch's own
            operators.
        after: the passes that run before this pass, if selected.
        preserved: operators that ExecuTorch's lowering must not decompose if this pass is selected. In a method with
            partitioners, ExecuTorch preserves the operators that the partitioners name instead.
    """

    name: str
    stage: Stage
    run: Callable[[ExportedProgram, Sites], Sequence[Change]]
    reference: str
    is_default: bool = False
    after: tuple[str, ...] = ()
    preserved: tuple[torch._ops.OpOverload, ...] = ()
