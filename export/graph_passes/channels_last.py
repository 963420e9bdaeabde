"""Keeps the tensors between convolutions channels-last: the channels of a pixel are neighbors in memory.

Layers ask for the format. Calls between layers carry the format on; any other call, and the caller of the method, gets
tensors in the order that the method had before. What lies between two such borders keeps its order where copies at
the borders cost more than the layers gain.
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from executorch.exir.tensor import dim_order_from_stride
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

from export.graph_passes import graphs, packed_convolution
from export.graph_passes.channels_last_layer import Layer
from export.graph_passes.graph_pass import Change, GraphPass, Stage

# Multiplications of layers that pay for the copy of an element.
_PRODUCTS_OF_COPY = 64
# Operators whose kernels are as fast with channels-last tensors as with others, and calculate the same. Which format
# they give, PyTorch says. Before averages, ExecuTorch itself puts copies of what is channels-last.
_CARRIERS = frozenset(
    {
        "aten::_native_batch_norm_legit_no_training",
        "aten::abs",
        "aten::add.Scalar",
        "aten::add.Tensor",
        "aten::amax",
        "aten::cat",
        "aten::clamp",
        "aten::constant_pad_nd",
        "aten::div.Scalar",
        "aten::div.Tensor",
        "aten::elu",
        "aten::exp",
        "aten::gelu",
        "aten::hardtanh",
        "aten::leaky_relu",
        "aten::max_pool2d_with_indices",
        "aten::maximum",
        "aten::minimum",
        "aten::mul.Scalar",
        "aten::mul.Tensor",
        "aten::neg",
        "aten::permute_copy",
        "aten::relu",
        "aten::sigmoid",
        "aten::sqrt",
        "aten::sub.Scalar",
        "aten::sub.Tensor",
        "aten::tanh",
        "aten::upsample_bilinear2d.vec",
        "aten::upsample_nearest2d.vec",
    }
)


# Says how a call works on channels-last tensors; None if it is no such layer.
Reader = Callable[[ExportedProgram, graphs.Call], Layer | None]


# Which layers there are. Another set of operators adds its own reader.
_READERS: Sequence[Reader] = (packed_convolution.layer,)


def _run(program: ExportedProgram) -> list[Change]:
    layers: dict[Node, Layer] = {}
    for node in program.graph.nodes:
        found = (reader(program, node) for reader in _READERS if node.op == "call_function")
        layer = next((one for one in found if one is not None), None)
        if layer is not None:
            layers[node] = layer
    plan = _Plan.of(program, layers)
    while losing := [node for region in plan.regions() if region.loses() for node in region.layers]:
        plan = _Plan.of(program, {node: layer for node, layer in plan.layers.items() if node not in losing})
    changes = [*_apply(program, plan)]
    graphs.finish(program)
    return changes


@dataclass
class _Region:
    """Layers that share tensors, with all their multiplications, and the elements that are copied at their borders."""

    layers: list[Node] = field(default_factory=list)
    products: int = 0
    copied: int = 0

    def loses(self) -> bool:
        return self.products < _PRODUCTS_OF_COPY * self.copied


@dataclass
class _Plan:
    """Which results become channels-last.

    Attributes:
        layers: the calls that ask for it.
        carriers: the calls that read channels-last tensors besides, with what they give then, without elements.
        values: the results whose order changes, without elements.
        to_last: the calls for which a tensor is copied to the new order.
        to_first: the calls for which a tensor in `values` is copied to the order that it had.
    """

    layers: Mapping[Node, Layer]
    carriers: dict[Node, Any] = field(default_factory=dict)
    values: dict[Node, Any] = field(default_factory=dict)
    to_last: dict[Node, set[Node]] = field(default_factory=lambda: defaultdict(set))
    to_first: dict[Node, set[Node]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def of(cls, program: ExportedProgram, layers: Mapping[Node, Layer]) -> _Plan:
        plan = cls(layers)
        for node in program.graph.nodes:
            if node in layers:
                plan._add_layer(node)
            elif any(source in plan.values for source in node.all_input_nodes) and not plan._carry(node):
                for source in node.all_input_nodes:
                    if source in plan.values:
                        plan.to_first[source].add(node)
        return plan

    def regions(self) -> Collection[_Region]:
        parents = {node: node for node in self.values}

        def root(node: Node) -> Node:
            while parents[node] is not node:
                node = parents[node]
            return node

        for node in self.values:
            for source in node.all_input_nodes:
                if source in parents:
                    parents[root(source)] = root(node)
        regions: dict[Node, _Region] = defaultdict(_Region)
        for node in self.values:
            region = regions[root(node)]
            if node in self.layers:
                region.layers.append(node)
                region.products += self.layers[node].products
            if self.to_first.get(node):
                region.copied += _numel(node)
        for source, users in self.to_last.items():
            for user in users & self.values.keys():
                regions[root(user)].copied += _numel(source)
                break
        return regions.values()

    def value(self, node: Node) -> Any:
        return self.values.get(node, graphs.value(node))

    def _add_layer(self, node: Node) -> None:
        layer = self.layers[node]
        for source in layer.inputs:
            if not layer.takes_contiguous and not _is_channels_last(self.value(source)):
                self.to_last[source].add(node)
        result = _channels_last(graphs.value(node))
        if _dim_order(result) != _dim_order(graphs.value(node)):
            self.values[node] = result

    def _carry(self, node: graphs.Call) -> bool:
        """Plans a call of channels-last tensors; False where the call needs the tensors as they were."""
        if node.target is operator.getitem:
            if node.args[0] in self.values:
                self.carriers[node] = self.values[node.args[0]][node.args[1]]
                self.values[node] = self.carriers[node]
            return True
        if graphs.name_of(node) not in _CARRIERS:
            return False
        sources = node.all_input_nodes
        shape = next(graphs.value(source).shape for source in sources if source in self.values)
        # A tensor that is as large as the changed ones is read in the same order, one that is broadcast in any.
        copied = [
            source
            for source in sources
            if graphs.same_sizes(graphs.value(source).shape, shape) and not _is_channels_last(self.value(source))
        ]
        values = {
            source: _channels_last(self.value(source)) if source in copied else self.value(source) for source in sources
        }
        args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), values.__getitem__)
        result = node.target(*args, **kwargs)
        is_changed = _tensors(result)[0].dim() == 4 and _is_channels_last(_tensors(result)[0])
        if not is_changed and _dim_orders(result) != _dim_orders(graphs.value(node)):
            return False
        for source in copied:
            self.to_last[source].add(node)
        self.carriers[node] = result
        if _dim_orders(result) != _dim_orders(graphs.value(node)):
            self.values[node] = result
        return True


def _apply(program: ExportedProgram, plan: _Plan) -> Iterator[Change]:
    replaced: dict[Node, Node] = {}
    copies: dict[tuple[Node, bool], Node] = {}

    def copy(before: Node, source: Node, *, is_last: bool) -> Node:
        if (source, is_last) not in copies:
            old = graphs.value(source)
            value = _channels_last(old) if is_last else old
            target: Any = graphs.EDGE.dim_order_ops._to_dim_order_copy.default
            call = graphs.insert_call(before, target, (replaced.get(source, source),), value)
            call.kwargs = {"dim_order": list(_dim_order(value))}
            copies[source, is_last] = call
        return copies[source, is_last]

    def read_by(node: Node) -> Callable[[Node], Node]:
        def read(source: Node) -> Node:
            if node in plan.to_last.get(source, ()):
                return copy(node, source, is_last=True)
            if node in plan.to_first.get(source, ()):
                return copy(node, source, is_last=False)
            return replaced.get(source, source)

        return read

    for node in list(program.graph.nodes):
        if node in plan.layers:
            layer = plan.layers[node]
            yield Change.of(node, f"{graphs.name_of(node)} of channels-last tensors")
            replaced[node] = layer.insert([read_by(node)(source) for source in layer.inputs])
            continue
        node.args, node.kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), read_by(node))
        if node in plan.carriers:
            node.meta["val"] = plan.carriers[node]
    for source, is_last in copies:
        yield Change.of(source, "copied to channels-last" if is_last else "copied from channels-last")


def _tensors(value: Any) -> Sequence[torch.Tensor]:
    return [value] if isinstance(value, torch.Tensor) else list(value)


def _dim_order(tensor: torch.Tensor) -> tuple[int, ...]:
    return tuple(dim_order_from_stride(tensor.stride()))


def _dim_orders(value: Any) -> list[tuple[int, ...]]:
    return [_dim_order(tensor) for tensor in _tensors(value)]


def _channels_last(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(memory_format=torch.channels_last)


def _is_channels_last(tensor: torch.Tensor) -> bool:
    return tensor.dim() == 4 and bool(statically_known_true(tensor.is_contiguous(memory_format=torch.channels_last)))


def _numel(node: Node) -> int:
    """Elements of a tensor, as if sizes that vary were 1."""
    return math.prod(size for tensor in _tensors(graphs.value(node)) for size in tensor.shape if isinstance(size, int))


PASS = GraphPass("channels_last", Stage.LOWERED, _run)
