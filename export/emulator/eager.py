"""Eager PyTorch's values of the nodes behind the instructions of a program, for the comparison of both node by node.

The graph of torch.export runs in PyTorch, node by node, on the samples. This graph is older than quantization, graph
passes and decompositions. Nodes of a later graph name the node of this graph whose value they have:

- A later graph has records of its source nodes, `from_node`. Of the nodes that come from one node, the last one of
  the same shape and dtype has the value of that node.
- A node that replaces another node has the value of the replaced node: so a fused node is compared at the last node
  that it replaces. If a graph pass erases a node with all its users, the last node of the same shape and dtype that
  was inserted for the node has the value of the node.
- A quantized node has the value of its input, with a scale and a zero point.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from executorch.exir.delegate import executorch_call_delegate
from torch.export import ExportedProgram
from torch.fx import Graph, Node
from torch.fx.traceback import NodeSource
from torch.utils import _pytree as pytree

from export.emulator.locate import Original
from export.graph_passes.graph_pass import TOUCHED
from export.patches import followed_replacements
from export.patches.recorded_emission import Emission
from export.user import samples
from export.user.model_file import Method

# The records of these source nodes are of the graph of torch.export.
_MARK = "rules_executorch_eager"
# The key of a node's metadata with the edge node whose value the node has, and the node's own name. A node that was
# inserted with the metadata of another node has another name.
_HELD = "rules_executorch_held"
# The key of a node's metadata with the eager values of its results.
_RESULTS = "rules_executorch_results"
_QUANTIZE = "quantized_decomposed::quantize_per_tensor"
_DEQUANTIZE = "quantized_decomposed::dequantize_per_tensor"
# Operators that copy the elements of their first argument in row-major order.
_COPIES = frozenset(
    {
        *("aten::clone", "aten::view", "aten::view_copy"),
        *("dim_order_ops::_clone_dim_order", "dim_order_ops::_to_dim_order_copy"),
    }
)
# Values beyond so many bytes are left out, so that the file of a large model stays small.
_MOST_BYTES = 256 << 20


@dataclass(frozen=True)
class _Eager:
    """The eager value of a result.

    Attributes:
        node: the name of the node in the graph of torch.export.
        index: the index in the value of the node, if the value is a tuple.
        quantization: the scale and the zero point of the result.
        sizes: the sizes of the result; None if they are not known before the run.
    """

    node: str
    index: int | None = None
    quantization: tuple[float, int] | None = None
    sizes: tuple[int, ...] | None = None

    def of(self, values: Mapping[str, Any]) -> Any:
        value = values.get(self.node)
        if self.index is not None and value is not None:
            value = value[self.index]
        # A graph pass may add dimensions of size 1.
        if isinstance(value, torch.Tensor) and self.sizes and math.prod(self.sizes) == value.numel():
            return value.reshape(self.sizes)
        return value


@dataclass
class _Traced:
    """A method after torch.export.

    Attributes:
        original: the graph.
        kinds: the fake values of the nodes by name.
        places: the metadata of each node with the line of Python and the module, by name.
        inputs: the names of the placeholders of the user's inputs.
        held: the eager value of each node of the edge dialect, by name.
        edge_kinds: the fake values of the nodes of the edge dialect, by name.
    """

    original: Original
    kinds: Mapping[str, Any]
    places: Mapping[str, Mapping[str, Any]]
    inputs: Sequence[str]
    held: dict[str, _Eager] = field(default_factory=dict)
    edge_kinds: dict[str, Any] = field(default_factory=dict)


class EagerValues:
    """The eager values of a program. The functions are called in their order, for each method."""

    def __init__(self) -> None:
        self._traced: dict[str, _Traced] = {}

    def trace(self, name: str, program: ExportedProgram) -> None:
        """Keeps the graph of torch.export, and marks its nodes."""
        kinds = {node.name: node.meta.get("val") for node in program.graph.nodes}
        places = {
            node.name: {key: node.meta[key] for key in ("nn_module_stack", "stack_trace") if key in node.meta}
            for node in program.graph.nodes
        }
        self._traced[name] = _Traced(Original(program), kinds, places, program.graph_signature.user_inputs)
        for node in program.graph.nodes:
            node.meta["from_node"] = [NodeSource(node, _MARK)]

    def lower(self, name: str, program: ExportedProgram) -> None:
        """Finds the eager values of a graph in the edge dialect, before the graph passes of this stage."""
        traced = self._traced[name]
        given = dict(zip(program.graph_signature.user_inputs, traced.inputs, strict=False))
        traced.edge_kinds = {node.name: node.meta.get("val") for node in program.graph.nodes}
        traced.held = _held(program.graph, traced.kinds, given)
        for node in program.graph.nodes:
            node.meta[_HELD] = (node.name, node.name)

    def finish(self, name: str, program: ExportedProgram) -> None:
        """Finds the eager values of a graph after all graph passes. Nodes get the lines of Python of eager nodes."""
        traced = self._traced[name]
        _adopt(program.graph, traced.edge_kinds)
        for node in program.graph.nodes:
            if node.target is executorch_call_delegate:
                node.meta[_RESULTS] = _of_delegate(node, traced.kinds)
            elif node.op == "call_function":
                node.meta[_RESULTS] = results = _results(node, traced.held)
                first = next(filter(None, results), None)
                node.meta.update(traced.places[first.node] if first else {})

    def values(self, methods: Sequence[Method], emissions: Mapping[str, Emission]) -> tuple[bytes, bytes]:
        """Runs the graphs of torch.export on the samples.

        Returns:
            The values as a .ptd file, and JSON with the eager nodes, the inputs and the pass of each instruction.
        """
        stored: dict[str, samples.Value] = {}
        document = {}
        left = _MOST_BYTES
        for method in methods:
            results = _results_of_instructions(emissions[method.name])
            document[method.name] = _instructions(emissions[method.name], results)
            for number, of_instruction in results.items():
                for index, eager in enumerate(of_instruction):
                    if eager and eager.quantization:
                        pair = torch.tensor(eager.quantization, dtype=torch.float64)
                        stored[f"{method.name}/{number}/{index}/quantization"] = samples.stored(pair)
            runs = [inputs.separate().flatten()[0] for inputs in method.samples]
            wanted = {eager.node for of_instruction in results.values() for eager in of_instruction if eager}
            for sample, values in enumerate(self._traced[method.name].original.each_run(runs, wanted)):
                for number, of_instruction in results.items():
                    for index, eager in enumerate(of_instruction):
                        value = eager.of(values) if eager else None
                        if not isinstance(value, torch.Tensor) or not samples.is_storable(value):
                            continue
                        left -= value.numel() * value.element_size()
                        if left >= 0:
                            stored[f"{method.name}/{sample}/{number}/{index}"] = samples.stored(value)
                if left < 0:
                    break
        text = json.dumps({"methods": document, "is_complete": left >= 0}, separators=(",", ":"), sort_keys=True)
        return samples.as_ptd(stored), (text + "\n").encode()


def followed() -> contextlib.AbstractContextManager[None]:
    """Notes during the block which node has the value of a replaced node."""
    return followed_replacements.told(_follow)


def _follow(node: Node, replace_with: Node) -> None:
    is_tuple, becomes_tuple = (isinstance(one.meta.get("val"), tuple) for one in (node, replace_with))
    if (held := _held_by(node)) and is_tuple == becomes_tuple:
        _hold(replace_with, held)
    if _source(node):
        replace_with.meta["from_node"] = node.meta["from_node"]


def _hold(node: Node, held: str) -> None:
    """Notes the value of a node, and of the nodes whose elements the node copies."""
    node.meta[_HELD] = (held, node.name)
    if _name(node) in _COPIES and not _held_by(node.args[0]):  # type: ignore[arg-type]
        _hold(node.args[0], held)  # type: ignore[arg-type]


def _adopt(graph: Graph, kinds: Mapping[str, Any]) -> None:
    """Finds the nodes that were inserted for nodes which were erased without a replacement."""
    known = {_held_by(node) for node in graph.nodes}
    for node in reversed(graph.nodes):
        origin, _ = node.meta.get(_HELD, (None, ""))
        if origin not in known and _is_same_kind(node.meta.get("val"), kinds.get(origin)):
            known.add(origin)
            _hold(node, origin)


def _held_by(node: Node) -> str | None:
    origin, holder = node.meta.get(_HELD, (None, ""))
    return origin if holder == node.name else None


def _source(node: Node) -> str | None:
    """Returns the name of the node of torch.export's graph that a node comes from."""

    def walk(sources: Iterable[NodeSource]) -> Iterator[str]:
        for source in sources:
            if source.pass_name == _MARK:
                yield source.name
            yield from walk(source.from_node or ())

    return next(walk(node.meta.get("from_node") or ()), None)


def _name(node: Node) -> str:
    schema = getattr(node.target, "_schema", None)
    return str(schema.name) if schema else ""


def _held(graph: Graph, kinds: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, _Eager]:
    """Returns the eager values of the nodes of a graph in the edge dialect, by name.

    Args:
        graph: the graph.
        kinds: the fake values of eager nodes.
        given: the eager placeholders of the graph's placeholders.
    """
    last = {
        source: node.name
        for node in graph.nodes
        if (source := _source(node))
        and _name(node) not in (_QUANTIZE, _DEQUANTIZE)
        and _is_same_kind(node.meta.get("val"), kinds.get(source))
    }
    held = {name: _Eager(source) for source, name in last.items()}
    held |= {name: _Eager(eager) for name, eager in given.items()}
    for node in graph.nodes:
        if _name(node) in (_QUANTIZE, _DEQUANTIZE) and node.args[0].name in held:
            numbers = (node.args[1], node.args[2])
            is_quantized = _name(node) == _QUANTIZE
            if all(isinstance(number, int | float) for number in numbers):
                held[node.name] = _Eager(held[node.args[0].name].node, None, numbers if is_quantized else None)
    return held


def _is_same_kind(value: Any, eager: Any) -> bool:
    one, other = pytree.tree_leaves(value), pytree.tree_leaves(eager)
    return len(one) == len(other) and all(
        isinstance(a, torch.Tensor)
        and isinstance(b, torch.Tensor)
        and a.dtype == b.dtype
        and len(a.shape) == len(b.shape)
        and all(m == n for m, n in zip(a.shape, b.shape, strict=True) if isinstance(m, int) and isinstance(n, int))
        for a, b in zip(one, other, strict=True)
    )


def _results(node: Node, held: Mapping[str, _Eager]) -> list[_Eager | None]:
    """Returns the eager value of each result of a call."""

    def of(one: Node) -> _Eager | None:
        eager, tensor = held.get(_held_by(one) or ""), one.meta.get("val")
        if eager is None or not isinstance(tensor, torch.Tensor) or not all(isinstance(n, int) for n in tensor.shape):
            return eager
        return replace(eager, sizes=tuple(tensor.shape))

    value = node.meta.get("val")
    if not isinstance(value, tuple | list):
        return [of(node)]
    whole = of(node)
    results = [_Eager(whole.node, index) if whole else None for index in range(len(value))]
    for user in node.users:
        if user.target is operator.getitem and (eager := of(user)):
            results[user.args[1]] = eager  # type: ignore[index]
    return results


def _of_delegate(node: Node, kinds: Mapping[str, Any]) -> list[_Eager | None]:
    """Returns the eager value of each argument of a call of a backend: of its results, after its inputs."""
    lowered: Any = getattr(node.graph.owning_module, str(node.args[0].target))  # type: ignore[union-attr]
    graph = lowered.original_module.graph
    held = _held(graph, kinds, {})
    (outputs,) = graph.output_node().args
    return [None] * (len(node.args) - 1) + [held.get(output.name) for output in outputs]


def _results_of_instructions(emission: Emission) -> dict[int, list[_Eager | None]]:
    """Returns the eager values of the results of each instruction outside of branches and loops."""
    return {
        number: instruction.nodes[0].meta.get(_RESULTS, [])
        for number, instruction in emission.instructions.items()
        if len(instruction.nodes) == 1
    }


def _instructions(emission: Emission, results: Mapping[int, Sequence[_Eager | None]]) -> dict[str, Any]:
    numbers = {instruction.nodes[-1]: number for number, instruction in emission.instructions.items()}
    document = {}
    for number, instruction in emission.instructions.items():
        node = instruction.nodes[-1]
        document[str(number)] = {
            "eager": [eager.node if eager else None for eager in results.get(number, ())],
            "inputs": sorted(set(_producers(node, numbers.get))),
            "is_nested": len(instruction.nodes) > 1,
            "pass": node.meta.get(TOUCHED, ""),
        }
    return document


def _producers(node: Node, number_of: Callable[[Node], int | None]) -> Iterator[int]:
    """Yields the instructions whose results a node reads, also through views that have no instruction."""
    for source in node.all_input_nodes:
        number = number_of(source)
        if number is None:
            yield from itertools.chain(_producers(source, number_of))
        else:
            yield number
