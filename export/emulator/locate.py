"""Finds the first operator of a program whose result differs from that of the graph before the graph passes."""

from __future__ import annotations

import functools
from collections import Counter, deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import GraphModule, Node
from torch.utils import _pytree as pytree

from export.emulator import tolerance
from export.emulator.code import Kernel
from export.emulator.machine import Machine

# The key of a node's metadata with the name of the node of the original graph whose value the node has.
_ORIGIN = "rules_executorch_origin"
# Operators whose results jump: a small difference of an argument can make a large difference of the result.
_DISCONTINUOUS = frozenset(
    {
        *("aten::argmax", "aten::argmin", "aten::argsort", "aten::max", "aten::min", "aten::sort", "aten::topk"),
        *("aten::eq", "aten::ge", "aten::gt", "aten::le", "aten::lt", "aten::ne", "aten::nonzero", "aten::sign"),
        *("aten::ceil", "aten::floor", "aten::floor_divide", "aten::fmod", "aten::remainder", "aten::round"),
        *("aten::trunc", "aten::max_pool2d_with_indices", "quantized_decomposed::quantize_per_channel"),
        *("quantized_decomposed::quantize_per_tensor", "dim_order_ops::_to_dim_order_copy", "aten::bucketize"),
    }
)


@dataclass(frozen=True)
class Located:
    """The first operator with a different result.

    Attributes:
        operator: the name of the operator.
        difference: the difference of the result.
        nodes: the nodes behind the operator, the innermost last.
        is_discontinuous: whether the function is not continuous.
    """

    operator: str
    difference: str
    nodes: tuple[Node, ...]
    is_discontinuous: bool

    def __str__(self) -> str:
        return f"the difference starts at {self.operator}"


def nested_modules(module: GraphModule) -> Iterator[tuple[str, GraphModule]]:
    """Yields the graphs of branches and loops with their names, without those that several calls share."""
    targets = [node for node in module.graph.nodes if node.op == "get_attr"]
    calls = Counter(str(node.target) for node in targets for _ in node.users)
    for name in dict.fromkeys(str(node.target) for node in targets):
        nested = getattr(module, name, None)
        if isinstance(nested, GraphModule) and calls[name] == 1:
            yield name, nested


class _Body:
    """A copy of a graph, and of the graphs of its branches and loops. Later changes of the graph do not matter.

    Args:
        module: the graph.
        prefix: what stands before the names of its nodes: empty, or the names of the enclosing branches and loops, each
            with a dot.
    """

    def __init__(self, module: GraphModule, prefix: str = "") -> None:
        self.prefix = prefix
        self.nested = {name: _Body(nested, f"{prefix}{name}.") for name, nested in nested_modules(module)}
        self._module = module
        self._graph = torch.fx.Graph()
        copies: dict[Node, Node] = {}
        self._graph.output(self._graph.graph_copy(module.graph, copies))

    @functools.cached_property
    def copy(self) -> GraphModule:
        return GraphModule(self._module, self._graph)

    def run(self, arguments: Sequence[Any], wanted: Container[str] | None, values: dict[str, list[Any]]) -> Any:
        """Runs the graph. Adds the values of the nodes to `values`, by name."""
        return _Interpreter(self, wanted, values).run(*arguments)


class Original:
    """The graph of a method before graph passes.

    Args:
        program: the method. Later changes of the graph do not matter.
    """

    def __init__(self, program: ExportedProgram) -> None:
        for node in program.graph.nodes:
            node.meta[_ORIGIN] = node.name
        self._body = _Body(program.graph_module)
        self._specs = list(program.graph_signature.input_specs)
        self._outputs = list(program.graph_signature.output_specs)
        self._state = {**program.constants, **program.state_dict}
        self._buffers = set(program.graph_signature.buffers)

    def values(self, runs: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """Runs the graph several times. Returns the last values of the nodes in the last run, by name."""
        last = deque(self.each_run(runs), maxlen=1)
        return {name: values[-1] for name, values in last[0].items()} if last else {}

    def each_run(
        self, runs: Sequence[Sequence[Any]], wanted: Container[str] | None = None
    ) -> Iterator[dict[str, list[Any]]]:
        """Runs the graph several times. Yields the values of the nodes in each run, by name.

        The name of a node in a branch or a loop begins with the name of the branch's or the loop's graph: `body.add`.
        Such a node has a value for each time that it runs, in this order.

        Args:
            runs: the inputs of each run.
            wanted: the names of the nodes; None for all.
        """
        # An operator may write to a buffer.
        state = {
            name: value.clone() if isinstance(value, torch.Tensor) and name in self._buffers else value
            for name, value in self._state.items()
        }
        for run in runs:
            given = iter(run)
            arguments = [
                next(given) if spec.kind is InputKind.USER_INPUT else state[str(spec.target)] for spec in self._specs
            ]
            values: dict[str, list[Any]] = {}
            with torch.no_grad():
                results = self._body.run(arguments, wanted, values)
            for spec, result in zip(self._outputs, results, strict=True):
                if spec.kind is OutputKind.BUFFER_MUTATION:
                    state[str(spec.target)] = result
            yield values


class _Interpreter(torch.fx.Interpreter):
    """Runs a graph and keeps the values of nodes by name, as they are before an operator writes to them."""

    def __init__(self, body: _Body, wanted: Container[str] | None, values: dict[str, list[Any]]) -> None:
        super().__init__(body.copy, garbage_collect_values=wanted is not None)
        self._body = body
        self._wanted = wanted
        self._values = values

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        nested = self._body.nested.get(target)
        if nested is None:
            return super().get_attr(target, args, kwargs)
        return lambda *arguments: nested.run(arguments, self._wanted, self._values)

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        name = self._body.prefix + n.name
        if self._wanted is None or name in self._wanted:
            copied = pytree.tree_map_only(torch.Tensor, torch.Tensor.clone, result)
            self._values.setdefault(name, []).append(copied)
        return result


def first_difference(machine: Machine, original: Original, runs: Sequence[Sequence[Any]]) -> Located | None:
    """Finds the first operator whose result differs beyond the tolerance, in the last of several runs.

    Args:
        machine: the method, before its first run.
        original: the graph before graph passes.
        runs: the inputs of each run.
    """
    try:
        values = original.values(runs)
    except Exception:  # Operators of a branch or a loop that several calls share may have changed since.
        return None
    # By the name of the original node. If several nodes have one original node, the last one has its value: a node that
    # a graph pass inserts before another node has the metadata of this node.
    found: dict[str, Located | None] = {}

    def observe(step: Kernel, results: Sequence[Any]) -> None:
        origin = step.nodes[-1].meta.get(_ORIGIN) if step.nodes else None
        if origin is None:
            return
        difference = _difference(values.get(origin), results)
        name = step.operator.name
        is_discontinuous = name.rpartition(".")[0] in _DISCONTINUOUS
        found.pop(origin, None)
        found[origin] = Located(name, difference, step.nodes, is_discontinuous) if difference else None

    for number, run in enumerate(runs):
        machine.run(run, observe if number == len(runs) - 1 else None)
    return next((one for one in found.values() if one is not None), None)


def _difference(expected: Any, results: Sequence[Any]) -> str:
    for wanted, result in zip(pytree.tree_leaves(expected), results, strict=False):
        is_same_kind = isinstance(wanted, torch.Tensor) and isinstance(result, torch.Tensor)
        if is_same_kind and (wanted.shape, wanted.dtype) == (result.shape, result.dtype):
            return tolerance.difference(wanted, result)
    return ""
