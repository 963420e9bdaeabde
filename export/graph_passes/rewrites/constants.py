"""Constant folding: computes calls that depend on constants only, such as transposed weights, during the export.

A program grows by at most 16 KiB for each folded call. A call stays in the program if its result is larger than 16 KiB
and larger than the constants that are no longer needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from executorch.exir.passes import constant_prop_pass
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

# The largest result, in bytes, that is folded even if no constant is removed.
_SMALL = 16384


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    """Finds all computable calls first: whether to fold a call depends on the calls that need the same constants."""
    # The constants that each computable node depends on. A constant depends on itself.
    sources: dict[Node, frozenset[Node]] = {
        node: frozenset({node}) for node in program.graph.nodes if graphs.constant(program, node) is not None
    }
    for node in sites:
        if _can_compute(node) and all(n in sources for n in node.all_input_nodes):
            sources[node] = frozenset().union(*(sources[n] for n in node.all_input_nodes))
    folded = _worthwhile(program, sources)
    results: dict[Node, torch.Tensor] = {}
    computed = {node: _computed(program, node, results) for node in sites.among(folded)}
    changes = []
    for node, tensor in computed.items():
        changes.append(Change(node, f"{graphs.name_of(node)} of constants computed at export"))
        graphs.replace(node, graphs.add_constant(program, f"{node.name}_computed", tensor))
    return changes


def _can_compute(node: Node) -> bool:
    """Returns whether a call of constants gives the same tensor in each run of the program."""
    called = graphs.operator_of(node)
    if called is None or not isinstance(graphs.value(node), torch.Tensor):
        return False
    # A dequantized weight would be larger than the quantized one, and a full() tensor larger than its call.
    if node.target in constant_prop_pass._DEFAULT_SKIP_TARGETS or node.is_impure():
        return False
    # The elements of a new tensor without values differ between two exports.
    is_empty = called._schema.name.rpartition("::")[2].lstrip("_").startswith(("empty", "new_empty"))
    if is_empty or torch.Tag.nondeterministic_seeded in called.tags:
        return False
    return all(isinstance(size, int) for size in graphs.value(node).shape)


def _worthwhile(program: ExportedProgram, sources: Mapping[Node, frozenset[Node]]) -> list[Node]:
    """Returns the calls to fold: calls with a user that is not constant, unless the program would grow.

    Outputs of the method are not folded, since a method cannot return constants.
    """
    folded = {
        node
        for node in sources
        if node.op == "call_function" and not graphs.is_output(node) and any(user not in sources for user in node.users)
    }
    while True:
        kept = set(_kept_constants(sources, folded))
        too_large = {
            node
            for node in folded
            if _bytes(node) > max(_SMALL, sum(_bytes(source) for source in sources[node] - kept))
        }
        if not too_large:
            return [node for node in program.graph.nodes if node in folded]
        folded -= too_large


def _kept_constants(sources: Mapping[Node, frozenset[Node]], folded: set[Node]) -> Iterator[Node]:
    """Yields the constants that calls need which are not folded."""
    needed = [
        node
        for node in sources
        if node not in folded and any(user not in sources or graphs.is_output(node) for user in node.users)
    ]
    for node in needed:
        yield from sources[node]


def _bytes(node: Node) -> int:
    tensor = graphs.value(node)
    return int(tensor.numel()) * int(tensor.element_size())


def _computed(program: ExportedProgram, folded: Node, results: dict[Node, torch.Tensor]) -> torch.Tensor:
    """Returns the result of a call. Reads intermediate results from `results`, and adds new ones."""

    def result(node: Node) -> torch.Tensor:
        if node not in results:
            tensor = graphs.constant(program, node)
            if tensor is None:
                args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), result)
                target: Any = node.target
                tensor = target(*args, **kwargs)
            results[node] = tensor
        return results[node]

    with torch.no_grad():
        return result(folded)


PASS = GraphPass(
    "constants",
    Stage.LOWERED,
    run=_run,
    reference=(
        "computes calls that depend on constants only, during the export: transposed weights, masks, tables of "
        "positions. A call stays in the program if its result is larger than 16 KiB and larger than the constants that "
        "are no longer needed"
    ),
    is_default=True,
    after=("broadcast_matmul",),
)
