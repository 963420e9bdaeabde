"""The delegation report: the operators of each delegate, the operators that stay with kernels, and the reasons."""

from __future__ import annotations

import json
import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.lowered_backend_module import LoweredBackendModule

from export.graph_passes import graphs
from export.patches import partitioner_reasons
from export.user.model_file import Method


@dataclass(frozen=True)
class Delegate:
    """A part of a method that a backend runs.

    Attributes:
        backend: the backend's name in the program.
        operators: the number of calls of each operator in the part.
    """

    backend: str
    operators: Mapping[str, int]


@dataclass(frozen=True)
class Remaining:
    """An operator that a kernel runs.

    Attributes:
        operator: the operator's name in PyTorch.
        node: the node's name in the graph.
        at: the line of the user's code that calls the operator; empty if unknown.
        reason: why no backend took the operator.
    """

    operator: str
    node: str
    at: str
    reason: str


@dataclass(frozen=True)
class Delegation:
    """The delegates and the remaining operators of a method.

    Attributes:
        delegates: the parts that backends run.
        remaining: the operators that kernels run.
    """

    delegates: tuple[Delegate, ...]
    remaining: tuple[Remaining, ...]


def of_graph(method: Method, graph_module: torch.fx.GraphModule, *, is_partitioned: bool) -> Delegation:
    """Reads the delegates and the remaining operators from a method's graph.

    Args:
        method: the method.
        graph_module: its graph, after the partitioners and before ExecuTorch's own passes.
        is_partitioned: whether there was a partitioner.
    """
    delegates: list[Delegate] = []
    remaining: list[Remaining] = []
    for node in graphs.all_nodes(graph_module):
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        if node.target is executorch_call_delegate:
            lowered: Any = getattr(node.graph.owning_module, str(node.all_input_nodes[0].target))
            delegates.append(Delegate(lowered.backend_id, _operators(lowered)))
        else:
            remaining.append(_remaining(method, node, is_partitioned=is_partitioned))
    return Delegation(tuple(delegates), tuple(remaining))


def _operators(lowered: LoweredBackendModule) -> dict[str, int]:
    nodes = lowered.original_module.graph.nodes
    names = Counter(_name(n) for n in nodes if n.op == "call_function" and n.target is not operator.getitem)
    return dict(sorted(names.items()))


def _remaining(method: Method, node: torch.fx.Node, *, is_partitioned: bool) -> Remaining:
    at, _ = method.source.frames_of_text(node.meta.get("stack_trace") or "")
    default = "no partitioner takes the operator here" if is_partitioned else "no backend was asked for"
    reason = str(node.meta.get(partitioner_reasons.REASON) or default).strip().rstrip(".")
    return Remaining(_name(node), node.name, str(at or ""), reason)


def _name(node: torch.fx.Node) -> str:
    called = graphs.operator_of(node)
    return str(called.name() if called else getattr(node.target, "__name__", node.target))


def as_json(delegations: Mapping[str, Delegation]) -> str:
    """Returns the report as JSON, for tools."""
    methods = {name: asdict(delegation) for name, delegation in delegations.items()}
    backends = sorted({delegate.backend for d in delegations.values() for delegate in d.delegates})
    return json.dumps({"backends": backends, "methods": methods}, indent=2) + "\n"


def as_text(delegations: Mapping[str, Delegation]) -> str:
    """Returns the report as text, for users."""
    return "\n".join(line for name, d in delegations.items() for line in _lines(name, d)) + "\n"


def _lines(name: str, delegation: Delegation) -> Iterator[str]:
    delegated = sum(sum(delegate.operators.values()) for delegate in delegation.delegates)
    total = delegated + len(delegation.remaining)
    plural = "" if len(delegation.delegates) == 1 else "s"
    yield f"{name}: {delegated} of {total} operators in {len(delegation.delegates)} delegate{plural}"
    for index, delegate in enumerate(delegation.delegates):
        counts = (f"{count} {name_of_operator}" for name_of_operator, count in delegate.operators.items())
        yield f"  delegate {index}, {delegate.backend}: {', '.join(counts)}"
    if delegation.remaining:
        yield "  kernels:"
    for (operator_name, reason), places in _grouped(delegation.remaining).items():
        times = f"{len(places)} {operator_name}"
        known = [place for place in dict.fromkeys(places) if place]
        yield f"    {times}: {reason}" + (f"; {', '.join(known)}" if known else "")


def _grouped(remaining: Sequence[Remaining]) -> dict[tuple[str, str], list[str]]:
    """Returns the places of the remaining operators, by operator and reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in remaining:
        groups.setdefault((one.operator, one.reason), []).append(one.at)
    return dict(sorted(groups.items()))
