"""The interface of graph passes: the pass, the calls that the pass visits, and the changes that the pass reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import call, graphs
from export.graph_passes.call import Call

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
    """One change that a pass made, or that a rewrite asks for.

    Attributes:
        node: the changed node.
        what: a description of the change, the same text for all changes of a kind.
        by: the call or the node that takes the place of `node`, whose result has the same dtype, sizes and strides.
            None if the rewrite itself changed the graph.
    """

    node: Node
    what: str
    by: Call[Any] | Node | None = None

    def apply(self) -> None:
        """Replaces `node` by `by`."""
        if self.by is not None:
            is_edge = not isinstance(self.node.target, torch._ops.OpOverload)
            by = self.by
            by = by if isinstance(by, Node) else by.insert(self.node, graphs.value(self.node), is_edge=is_edge)
            graphs.replace(self.node, by)


# Rewrites a call, given the program, the node and the view of the call. Returns None, and changes nothing, for a call
# that stays as it is.
Rewrite = Callable[[ExportedProgram, Node, Any], Change | None]


@dataclass
class Sites:
    """The calls of a program that a pass may rewrite, and the place at which the pass is.

    If a pass raises, passes.run() restores the graph and runs the pass again. The call `current` is then left out.

    Attributes:
        program: the method.
        left_out: the names of the calls to skip.
        current: the call that the pass is rewriting; None before the first and after the last.
    """

    program: ExportedProgram
    left_out: Collection[str] = ()
    current: Node | None = field(default=None, init=False)

    def rewrite(self, roots: Sequence[type[Call[Any]]], rewrite: Rewrite) -> list[Change]:
        """Rewrites the calls of some operators in the order of the graph. Returns the changes."""
        changes = []
        for node in self:
            root = call.first(roots, node)
            change = None if root is None else rewrite(self.program, node, root)
            if change is not None:
                change.apply()
                changes.append(change)
        return changes

    def __iter__(self) -> Iterator[Node]:
        """Yields all calls in the order of the graph, as `among` does."""
        return self.among([node for node in self.program.graph.nodes if node.op == "call_function"])

    def among(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yields those nodes that the pass may rewrite and that are still in the graph.

        A node is `current` until the caller asks for the next one. The caller may change the graph meanwhile.
        """
        for node in nodes:
            if node.name not in self.left_out and not node._erased:
                self.current = node
                yield node
        self.current = None


@dataclass(frozen=True)
class GraphPass:
    """A graph pass. Each file of rewrites/ defines one, `PASS`, and has the pass's name.

    A pass is the operators of the calls to look at, `roots`, and the function that rewrites one call, `rewrite`. A pass
    of another shape has `run` instead.

    Attributes:
        name: the name in `graph_passes` of the rule.
        stage: the stage at which the pass runs.
        reference: the documentation of the pass for users, a paragraph of Markdown.
        roots: the views of the calls to rewrite.
        rewrite: rewrites a call. Unused calls and constants may stay, and are removed after the pass.
        run: changes the program in place of `roots` and `rewrite`, and visits calls through the `Sites`. The function's
            docstring has the reason: a state for all calls, several rewrites, or a plan for the whole graph.
        is_default: whether the group `default` has the pass. After such a pass, a program needs only ExecuTorch's own
            operators.
        after: the passes that run before this pass, if selected.
        preserved: operators that ExecuTorch's lowering must not decompose if this pass is selected. In a method with
            partitioners, ExecuTorch preserves the operators that the partitioners name instead.
    """

    name: str
    stage: Stage
    reference: str
    roots: Sequence[type[Call[Any]]] = ()
    rewrite: Rewrite = lambda *_: None
    run: Callable[[ExportedProgram, Sites], Sequence[Change]] | None = None
    is_default: bool = False
    after: tuple[str, ...] = ()
    preserved: tuple[torch._ops.OpOverload, ...] = ()

    def apply(self, sites: Sites) -> Sequence[Change]:
        """Changes the program's graph, signature and constants in place. Returns the changes."""
        return self.run(sites.program, sites) if self.run else sites.rewrite(self.roots, self.rewrite)
