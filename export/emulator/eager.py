"""Eager PyTorch's values of the nodes behind the instructions of a program, for the comparison of both node by node.

The graph of torch.export runs in PyTorch, node by node, on the samples. This graph is older than quantization, graph
passes and decompositions. Nodes of a later graph name the node of this graph whose value they have:

- A later graph has records of its source nodes, `from_node`. Of the nodes that come from one node, the last one of
  the same shape and dtype has the value of that node.
- A node that replaces another node has the value of the replaced node: so a fused node is compared at the last node
  that it replaces. If a graph pass erases a node with all its users, the last node of the same shape and dtype that
  was inserted for the node has the value of the node. If the replacement is a padding, its input has the value without
  the padding: a graph pass moves quantizations before paddings.
- A quantized node has the value of its input, with a scale and a zero point.

The graphs of branches and loops are treated alike. The name of a node of such a graph begins with the graph's name:
`body.add`. The value of iteration n of a loop belongs to iteration n of the program. An instruction is compared only if
the number of its run tells the iteration: outside of loops, or in one loop and there in no branch.
"""

from __future__ import annotations

import contextlib
import json
import math
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from executorch.exir.delegate import executorch_call_delegate
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.traceback import NodeSource
from torch.nn import functional
from torch.utils import _pytree as pytree

from export.emulator import locate
from export.emulator.locate import Original
from export.graph_passes.graph_pass import TOUCHED
from export.patches import followed_replacements
from export.patches.recorded_emission import Emission
from export.user import samples
from export.user.model_file import Method

# The records of these source nodes are of the graph of torch.export.
_MARK = "rules_executorch_eager"
# The key of a node's metadata with the `_Held` of the node.
_HELD = "rules_executorch_held"
# The key of a node's metadata with the eager values of its results.
_RESULTS = "rules_executorch_results"
_QUANTIZE = "quantized_decomposed::quantize_per_tensor"
_DEQUANTIZE = "quantized_decomposed::dequantize_per_tensor"
_PAD = "aten::constant_pad_nd"
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
        padding: the padding that the value of the node has and the result has not, as `aten::constant_pad_nd` has it.
        sizes: the sizes of the result; None if they are not known before the run.
    """

    node: str
    index: int | None = None
    quantization: tuple[float, int] | None = None
    padding: tuple[int, ...] = ()
    sizes: tuple[int, ...] | None = None

    def of(self, values: Mapping[str, Sequence[Any]]) -> list[Any]:
        """Returns the value in each run of the node."""
        return [self._of(value) for value in values.get(self.node, ())]

    def _of(self, value: Any) -> Any:
        if self.index is not None and value is not None:
            value = value[self.index]
        if self.padding and isinstance(value, torch.Tensor):
            value = functional.pad(value, [-width for width in self.padding])
        # A graph pass may add dimensions of size 1.
        if isinstance(value, torch.Tensor) and self.sizes and math.prod(self.sizes) == value.numel():
            return value.reshape(self.sizes)
        return value


@dataclass(frozen=True)
class _Held:
    """What a node of a later graph has.

    Attributes:
        origin: the edge node whose value the node has.
        holder: the node's own name. A node that was inserted with the metadata of another node has another name.
        padding: the padding that the value of the edge node has and the node has not.
    """

    origin: str
    holder: str
    padding: tuple[int, ...] = ()


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
        kinds, places = {}, {}
        for prefix, graph in _graphs(program.graph_module):
            for node in graph.nodes:
                name_of_node = prefix + node.name
                kinds[name_of_node] = node.meta.get("val")
                places[name_of_node] = {
                    key: node.meta[key] for key in ("nn_module_stack", "stack_trace") if key in node.meta
                }
                node.meta["from_node"] = [_marked(node, name_of_node)]
        self._traced[name] = _Traced(Original(program), kinds, places, program.graph_signature.user_inputs)

    def lower(self, name: str, program: ExportedProgram) -> None:
        """Finds the eager values of a graph in the edge dialect, before the graph passes of this stage."""
        traced = self._traced[name]
        given = dict(zip(program.graph_signature.user_inputs, traced.inputs, strict=False))
        graphs = list(_graphs(program.graph_module))
        places = Counter(_place(graph) for prefix, graph in graphs if prefix)
        for prefix, graph in graphs:
            if not prefix:
                traced.held |= _held(prefix, graph, "", traced.kinds, given)
            # Of a graph that a pass has doubled, each one has other runs than the original.
            elif (place := _place(graph)) and places[place] == 1:
                traced.held |= _held(prefix, graph, place, traced.kinds, {})
            for node in graph.nodes:
                traced.edge_kinds[prefix + node.name] = node.meta.get("val")
                node.meta[_HELD] = _Held(prefix + node.name, node.name)

    def finish(self, name: str, program: ExportedProgram) -> None:
        """Finds the eager values of a graph after all graph passes. Nodes get the lines of Python of eager nodes."""
        traced = self._traced[name]
        for _, graph in _graphs(program.graph_module):
            _adopt(graph, traced.edge_kinds)
            for node in graph.nodes:
                if node.target is executorch_call_delegate:
                    node.meta[_RESULTS] = _of_delegate(node, traced.kinds)
                elif node.op == "call_function" and not _bodies(node):
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
                for place, value in _placed(results, values):
                    left -= value.numel() * value.element_size()
                    if left >= 0:
                        stored[f"{method.name}/{sample}/{place}"] = samples.stored(value)
                if left < 0:
                    break
        text = json.dumps({"methods": document, "is_complete": left >= 0}, separators=(",", ":"), sort_keys=True)
        return samples.as_ptd(stored), (text + "\n").encode()


def followed() -> contextlib.AbstractContextManager[None]:
    """Notes during the block which node has the value of a replaced node."""
    return followed_replacements.told(_follow)


def _marked(node: Node, name: str) -> NodeSource:
    """Returns the record of a node in the graph of torch.export."""
    source = NodeSource(node, _MARK)
    assert source.node_info is not None
    source.node_info.name = name
    return source


def _graphs(module: GraphModule, prefix: str = "") -> Iterator[tuple[str, Graph]]:
    """Yields a graph and the graphs of its branches and loops, with what stands before the names of their nodes."""
    yield prefix, module.graph
    for name, nested in locate.nested_modules(module):
        yield from _graphs(nested, f"{prefix}{name}.")


def _bodies(node: Node) -> list[GraphModule]:
    """Returns the graphs of the branches or of the loop that a node calls."""
    return [body for argument in node.args if (body := _body(argument)) is not None]


def _body(argument: Any) -> GraphModule | None:
    if not isinstance(argument, Node) or argument.op != "get_attr":
        return None
    body = getattr(argument.graph.owning_module, str(argument.target), None)
    return body if isinstance(body, GraphModule) else None


def _placed(
    results: Mapping[int, Sequence[_Eager | None]], values: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields the values of a run that a file can store, with `<instruction>/<its run>/<result>`."""
    for number, of_instruction in results.items():
        for index, eager in enumerate(of_instruction):
            for run, value in enumerate(eager.of(values) if eager else ()):
                if isinstance(value, torch.Tensor) and samples.is_storable(value):
                    yield f"{number}/{run}/{index}", value


def _follow(node: Node, replace_with: Node) -> None:
    is_tuple, becomes_tuple = (isinstance(one.meta.get("val"), tuple) for one in (node, replace_with))
    if (held := _held_by(node)) and is_tuple == becomes_tuple:
        _hold(replace_with, held)
    if _source(node):
        replace_with.meta["from_node"] = node.meta["from_node"]


def _hold(node: Node, held: _Held) -> None:
    """Notes the value of a node, and of the node whose elements the node copies or pads."""
    node.meta[_HELD] = replace(held, holder=node.name)
    source = node.args[0] if node.args else None
    if not isinstance(source, Node) or _held_by(source):
        return
    if _name(node) in _COPIES:
        _hold(source, held)
    elif _name(node) == _PAD and not held.padding and all(isinstance(width, int) for width in node.args[1]):  # type: ignore[union-attr]
        # Of a quantization that moves before the padding, the node is of another shape than the nodes of the graph.
        _hold(source, replace(held, padding=tuple(node.args[1])))  # type: ignore[arg-type]


def _adopt(graph: Graph, kinds: Mapping[str, Any]) -> None:
    """Finds the nodes that were inserted for nodes which were erased without a replacement."""
    known = {held.origin for node in graph.nodes if (held := _held_by(node)) and not held.padding}
    for node in reversed(graph.nodes):
        held = node.meta.get(_HELD)
        if held and held.origin not in known and _is_same_kind(node.meta.get("val"), kinds.get(held.origin)):
            known.add(held.origin)
            _hold(node, held)


def _held_by(node: Node) -> _Held | None:
    held: _Held | None = node.meta.get(_HELD)
    return held if held and held.holder == node.name else None


def _parameters(node: Node) -> tuple[float, int] | None:
    """Returns the scale and the zero point of a quantization or a dequantization; None if they are tensors."""
    scale, zero_point = node.args[1:3]
    if isinstance(scale, int | float) and isinstance(zero_point, int):
        return scale, zero_point
    return None


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


def _place(graph: Graph) -> str | None:
    """Returns the prefix of all source nodes of a graph: its branch or loop in torch.export's graph.

    The inputs do not count, which may have the record of the call.
    """
    sources = [source for node in graph.nodes if node.op == "call_function" and (source := _source(node))]
    prefixes = {source[: source.rfind(".") + 1] for source in sources}
    return prefixes.pop() if len(prefixes) == 1 else None


def _held(
    prefix: str, graph: Graph, place: str, kinds: Mapping[str, Any], given: Mapping[str, str]
) -> dict[str, _Eager]:
    """Returns the eager values of the nodes of a graph in the edge dialect, by name.

    Args:
        prefix: what stands before the names of the graph's nodes.
        graph: the graph.
        place: what stands before the names of its source nodes.
        kinds: the fake values of eager nodes.
        given: the eager placeholders of the graph's placeholders.
    """
    last = {
        source: prefix + node.name
        for node in graph.nodes
        if (source := _source(node))
        and source[: source.rfind(".") + 1] == place
        and _name(node) not in (_QUANTIZE, _DEQUANTIZE)
        and _is_same_kind(node.meta.get("val"), kinds.get(source))
    }
    held = {name: _Eager(source) for source, name in last.items()}
    held |= {name: _Eager(eager) for name, eager in given.items()}
    for node in graph.nodes:
        if _name(node) in (_QUANTIZE, _DEQUANTIZE) and prefix + node.args[0].name in held and _parameters(node):
            quantization = _parameters(node) if _name(node) == _QUANTIZE else None
            held[prefix + node.name] = _Eager(held[prefix + node.args[0].name].node, None, quantization)
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
        of_one, tensor = _held_by(one), one.meta.get("val")
        eager = held.get(of_one.origin) if of_one else None
        if eager is None or of_one is None:
            return None
        sizes = None
        if isinstance(tensor, torch.Tensor) and all(isinstance(size, int) for size in tensor.shape):
            sizes = tuple(tensor.shape)
        return replace(eager, padding=of_one.padding, sizes=sizes)

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
    held = _held("", graph, _place(graph) or "", kinds, {})
    (outputs,) = graph.output_node().args
    return [None] * (len(node.args) - 1) + [held.get(output.name) for output in outputs]


def _results_of_instructions(emission: Emission) -> dict[int, list[_Eager | None]]:
    """Returns the eager values of the results of each instruction whose runs tell the iterations of its loop."""
    return {
        number: instruction.nodes[-1].meta.get(_RESULTS, [])
        for number, instruction in emission.instructions.items()
        if not any(map(_is_loop, instruction.nodes[:-2]))
    }


def _is_loop(node: Node) -> bool:
    return node.target is not torch.ops.higher_order.cond


def _instructions(emission: Emission, results: Mapping[int, Sequence[_Eager | None]]) -> dict[str, Any]:
    # The steps of a loop itself, such as the count of the iterations, compute no result of a node.
    numbers = {
        instruction.nodes[-1]: number
        for number, instruction in emission.instructions.items()
        if not _bodies(instruction.nodes[-1])
    }
    sources = _sources(emission)
    document = {}
    for number, instruction in emission.instructions.items():
        node = instruction.nodes[-1]
        document[str(number)] = {
            "eager": [eager.node if eager else None for eager in results.get(number, ())],
            "inputs": sorted(set(_producers(node, sources, numbers))),
            "is_nested": len(instruction.nodes) > 1,
            "is_in_loop": any(map(_is_loop, instruction.nodes[:-1])),
            "is_deep": number not in results,
            "pass": node.meta.get(TOUCHED, ""),
        }
    return document


def _sources(emission: Emission) -> dict[Node, list[Node]]:
    """Returns the nodes outside of an operator that give its values: of the inputs of a branch or a loop, the arguments
    of the call and the results of the iteration before; of the call, the results of the branches or the loop."""
    sources: dict[Node, list[Node]] = {}
    calls = {node for instruction in emission.instructions.values() for node in instruction.nodes if _bodies(node)}
    for call in calls:
        given = [one for one in pytree.tree_leaves(call.args) if _body(one) is None]
        sources[call] = []
        for body in _bodies(call):
            inputs = body.graph.find_nodes(op="placeholder")
            results = pytree.tree_leaves(body.graph.output_node().args)
            sources[call] += [result for result in results if isinstance(result, Node)]
            for index, one in enumerate(inputs):
                values = [given[index - len(inputs)]]
                if call.target is torch.ops.higher_order.scan and index < len(call.args[1]):  # type: ignore[arg-type]
                    values.append(results[index])
                sources[one] = [value for value in values if isinstance(value, Node)]
    return sources


def _producers(node: Node, sources: Mapping[Node, Sequence[Node]], numbers: Mapping[Node, int]) -> Iterator[int]:
    """Yields the instructions whose results a node reads, also through views that have no instruction."""
    seen: set[Node] = set()
    left = list(sources.get(node, node.all_input_nodes))
    while left:
        source = left.pop()
        if source in seen:
            continue
        seen.add(source)
        if source in numbers:
            yield numbers[source]
        else:
            left += sources.get(source, source.all_input_nodes)
