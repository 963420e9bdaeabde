"""Keeps the tensors between convolutions channels-last.

Layers ask for channels-last inputs. Calls between layers propagate the order. All other calls, and the caller of the
method, get copies in the original order. If the copies at the borders of a region cost more than the region's layers
gain, the region keeps the original order.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.utils import _pytree as pytree

from export.graph_passes import graphs, packed_convolution, padding_operators
from export.graph_passes.calls import PermuteCopy, ToDimOrderCopy
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage
from export.graph_passes.packed_convolution import Layer
from export.user.dense_tensors import channels_last_order

# A region becomes channels-last if its layers have at least so many multiplications for each copied element.
_PRODUCTS_OF_COPY = 64
# Elementwise operators whose kernels have the same speed and the same results with channels-last tensors.
ELEMENTWISE = frozenset(
    {
        "aten::abs",
        "aten::add.Scalar",
        "aten::add.Tensor",
        "aten::clamp",
        "aten::div.Scalar",
        "aten::div.Tensor",
        "aten::elu",
        "aten::exp",
        "aten::gelu",
        "aten::hardtanh",
        "aten::leaky_relu",
        "aten::maximum",
        "aten::minimum",
        "aten::mul.Scalar",
        "aten::mul.Tensor",
        "aten::neg",
        "aten::relu",
        "aten::sigmoid",
        "aten::sqrt",
        "aten::sub.Scalar",
        "aten::sub.Tensor",
        "aten::tanh",
        "rules_executorch::activation",
    }
)
# All operators that propagate the order, of images or of volumes. PyTorch's fake kernels give the order of the result,
# except for reflection and replication padding: PyTorch's fake results are contiguous, and our kernels write in any
# order. Averages are not in the list: ExecuTorch itself inserts copies of channels-last tensors before averages.
_CARRIERS = (
    ELEMENTWISE
    | padding_operators.OF_IMAGES
    | {
        "aten::_native_batch_norm_legit_no_training",
        "aten::amax",
        "aten::cat",
        "aten::constant_pad_nd",
        "aten::max_pool2d_with_indices",
        "aten::max_pool3d_with_indices",
        "aten::native_group_norm",
        "aten::permute_copy",
        "aten::upsample_bilinear2d.vec",
        "aten::upsample_nearest2d.vec",
    }
)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    """Plans the whole graph first: whether a layer becomes channels-last depends on the layers before and after it."""
    layers: dict[Node, Layer] = {}
    before_empty = _before_empty_images(program)
    for node in sites:
        layer = packed_convolution.layer(program, node)
        if layer is not None and node not in before_empty and not _is_empty_image(layer.input):
            layers[node] = layer
    plan = _Plan.of(program, layers)
    while losing := [node for region in plan.regions() if region.loses() for node in region.layers]:
        plan = _Plan.of(program, {node: layer for node, layer in plan.layers.items() if node not in losing})
    return [*_apply(program, plan)]


def _before_empty_images(program: ExportedProgram) -> Collection[Node]:
    """Returns the empty images, and all nodes on which one depends.

    Channels-last images of no channels, rows or columns have strides of 0, which ExecuTorch refuses. A channels-last
    result of a layer can give such strides to any later image, also if the layer's result has one channel only, so that
    it is contiguous, too.
    """
    found: set[Node] = set()
    for node in reversed(program.graph.nodes):
        if _is_empty_image(node) or not found.isdisjoint(node.users):
            found.add(node)
    return found


def _is_empty_image(node: Node) -> bool:
    tensors = pytree.tree_leaves(node.meta.get("val"))
    return any(
        isinstance(one, torch.Tensor) and one.dim() in graphs.IMAGE_DIMS and graphs.is_empty(one) for one in tensors
    )


@dataclass
class _Region:
    """Layers that are connected by channels-last tensors.

    Attributes:
        layers: the layers.
        products: the multiplications of all layers.
        copied: the elements of tensors that are copied at the borders of the region.
    """

    layers: list[Node] = field(default_factory=list)
    products: int = 0
    copied: int = 0

    def loses(self) -> bool:
        return self.products < _PRODUCTS_OF_COPY * self.copied


@dataclass
class _Plan:
    """The results that become channels-last.

    Attributes:
        layers: the layers, which ask for channels-last inputs.
        carriers: the calls that propagate the order, with the fake tensors of their new results.
        values: the results whose order changes, with their new fake tensors.
        to_last: for a tensor, the calls that read a channels-last copy.
        to_first: for a tensor in `values`, the calls that read a copy in the original order.
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
            # A copy that several regions read counts in the first one.
            first = next((node for node in self.values if node in users), None)
            if first is not None:
                regions[root(first)].copied += _numel(source)
        return regions.values()

    def value(self, node: Node) -> Any:
        return self.values.get(node, graphs.value(node))

    def _add_layer(self, node: Node) -> None:
        layer = self.layers[node]
        source = layer.input
        if not layer.takes_contiguous and not graphs.is_channels_last(self.value(source)):
            if self._can_give_last(source):
                self.values[source] = self.carriers[source] = graphs.channels_last(self.value(source))
            else:
                self.to_last[source].add(node)
        result = graphs.channels_last(graphs.value(node))
        if graphs.dim_order(result) != graphs.dim_order(graphs.value(node)):
            self.values[node] = result

    def _can_give_last(self, node: Node) -> bool:
        """Returns whether a call can give a channels-last result: a permutation with layers as the only users."""
        readers = [self.layers.get(user) for user in node.users]
        return PermuteCopy.of(node) is not None and all(
            layer is not None and layer.input is node and not layer.takes_contiguous for layer in readers
        )

    def _carry(self, node: graphs.Call) -> bool:
        """Plans a call that reads channels-last tensors. Returns False if the call needs the original order."""
        if node.target is operator.getitem:
            if node.args[0] in self.values:
                self.carriers[node] = self.values[node.args[0]][node.args[1]]
                self.values[node] = self.carriers[node]
            return True
        if graphs.name_of(node) not in _CARRIERS:
            return False
        sources = node.all_input_nodes
        shape = next(graphs.value(source).shape for source in sources if source in self.values)
        # A tensor of the same sizes must have the same order. A tensor that broadcasts may have any order.
        copied = [
            source
            for source in sources
            if isinstance(graphs.value(source), torch.Tensor)
            and graphs.same_sizes(graphs.value(source).shape, shape)
            and not graphs.is_channels_last(self.value(source))
        ]
        values = {
            source: graphs.channels_last(self.value(source)) if source in copied else self.value(source)
            for source in sources
        }
        result = _reordered(node, values)
        if result is None:
            return False
        for source in copied:
            self.to_last[source].add(node)
        self.carriers[node] = result
        if result is not graphs.value(node):
            self.values[node] = result
        return True


def _reordered(node: graphs.Call, values: Mapping[Node, Any]) -> Any:
    """Returns the fake result of a call whose inputs have other orders.

    PyTorch's fake kernel gives the order of the result, except for padding. None unless this is channels-last or the
    original order.
    """
    before = graphs.value(node)
    if graphs.name_of(node) in padding_operators.OF_IMAGES:
        return graphs.channels_last(before)
    args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), lambda one: graphs.example(values[one]))
    after = node.target(*args, **kwargs)
    orders = [graphs.dim_order(tensor) for tensor in pytree.tree_leaves(after)]
    if orders == [graphs.dim_order(tensor) for tensor in pytree.tree_leaves(before)]:
        return before
    last = channels_last_order(len(orders[0]))
    if len(last) not in graphs.IMAGE_DIMS or orders[0] != last:
        return None
    reordered = [
        graphs.channels_last(tensor) if order == last else tensor
        for tensor, order in zip(pytree.tree_leaves(before), orders, strict=True)
    ]
    return reordered[0] if isinstance(before, torch.Tensor) else tuple(reordered)


def _apply(program: ExportedProgram, plan: _Plan) -> Iterator[Change]:
    replaced: dict[Node, Node] = {}
    copies: dict[tuple[Node, bool], Node] = {}

    def copy(before: Node, source: Node, *, is_last: bool) -> Node:
        if (source, is_last) not in copies:
            old = graphs.value(source)
            value = graphs.channels_last(old) if is_last else old
            call = ToDimOrderCopy(replaced.get(source, source), dim_order=graphs.dim_order(value))
            copies[source, is_last] = call.insert(before, value)
        return copies[source, is_last]

    def read(node: Node, source: Node) -> Node:
        if node in plan.to_last.get(source, ()):
            return copy(node, source, is_last=True)
        if node in plan.to_first.get(source, ()):
            return copy(node, source, is_last=False)
        return replaced.get(source, source)

    for node in list(program.graph.nodes):
        if node in plan.layers:
            layer = plan.layers[node]
            yield Change(node, f"{graphs.name_of(node)} of channels-last tensors")
            replaced[node] = layer.insert(read(node, layer.input))
            continue
        node.args, node.kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), functools.partial(read, node))
    # The new fake tensors are set after the copies are inserted, since the copies need the original orders.
    for node, value in plan.carriers.items():
        node.meta["val"] = value
    for source, is_last in copies:
        yield Change(source, "copied to channels-last" if is_last else "copied from channels-last")


def _numel(node: Node) -> int:
    """Returns the number of elements of a node's tensors. Symbolic sizes count as 1."""
    return math.prod(
        size for tensor in pytree.tree_leaves(graphs.value(node)) for size in tensor.shape if isinstance(size, int)
    )


PASS = GraphPass(
    "channels_last",
    Stage.LOWERED,
    run=_run,
    reference=(
        "keeps tensors between convolutions channels-last, and stores the weights of these convolutions in the order "
        "in which the kernel reads them ([packed convolutions](../docs/optimized_kernels.md#packed-convolutions)), as "
        "`rules_executorch::packed_convolution.out`. The convolutions are float32, half or bfloat16, and of two or "
        "three dimensions. Transposed convolutions have two dimensions, a kernel of at least the stride, at least 8 "
        "output channels in a group, and a dilation without a common factor with the stride. Elementwise calls, "
        "padding, max pooling, group normalization, upsampling and `cat` between convolutions keep the order. Any "
        "other call, and the caller, gets a copy in the original order. The convolutions between copies must have at "
        "least 64 multiplications for each copied element. The multiplications of transposed convolutions with strides "
        "count twice"
    ),
    after=("channels_of_bytes", "convolution_1d"),
)
