"""Makes the dim orders of a graph explicit, while ExecuTorch turns the graph into a program.

ExecuTorch makes a view of each call of view_copy, so the viewed memory must be contiguous. ExecuTorch takes dim orders
from the strides of fake tensors, which its passes compute anew. So the copies for other orders are inserted during such
a computation, when the strides are those of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from executorch.exir import memory
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from executorch.exir.memory_planning import get_node_tensor_specs
from executorch.exir.pass_base import ExportPass, NodeMetadata, ProxyValue
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.replace_view_copy_with_view_pass import _ViewSpec
from executorch.exir.tensor import TensorSpec
from torch.export.graph_signature import ExportGraphSignature
from torch.fx import GraphModule
from torch.fx.passes.infra.pass_base import PassResult

from export.graph_passes import graphs
from export.graph_passes.operators import registration
from export.user.dense_tensors import channels_last_order, usual_dim_order

_VIEW = graphs.EDGE.aten.view_copy.default
_TO_DIM_ORDER = graphs.EDGE.dim_order_ops._to_dim_order_copy.default


class ExplicitLayouts(ExportPass):  # type: ignore[misc]  # ExecuTorch has no types.
    """Inserts copies in the dim orders that views and operators of this project require."""

    def call_operator(self, op: Any, args: Sequence[Any], kwargs: Any, meta: NodeMetadata) -> ProxyValue:
        if op is _VIEW:
            args = (self._in_order(args[0], "contiguous", meta), *args[1:])
        elif isinstance(op, EdgeOpOverload) and op._op.namespace == registration.NAMESPACE:
            orders = registration.dim_orders(op._op)
            names = [argument.name for argument in op._schema.arguments]
            args = [self._in_order(one, orders.get(name, ""), meta) for name, one in zip(names, args, strict=False)]
            kwargs = {name: self._in_order(one, orders.get(name, ""), meta) for name, one in kwargs.items()}
        return super().call_operator(op, tuple(args), kwargs, meta)

    def _in_order(self, value: Any, order: str, meta: NodeMetadata) -> Any:
        """Returns a value, or a copy of a tensor that does not have the order `contiguous` or `channels_last`."""
        if not isinstance(value, ProxyValue) or not value.is_tensor():
            return value
        tensor = value.to_tensor()
        if order == "contiguous" and not graphs.is_contiguous(tensor):
            return self._copy(value, range(tensor.dim()), meta)
        if order == "channels_last" and not graphs.is_channels_last(tensor):
            return self._copy(value, channels_last_order(tensor.dim()), meta)
        return value

    def _copy(self, value: ProxyValue, order: Sequence[int], meta: NodeMetadata) -> ProxyValue:
        return super().call_operator(_TO_DIM_ORDER, (value,), {"dim_order": [*order]}, meta)


class _Storage(TensorSpec):  # type: ignore[misc]  # ExecuTorch has no types.
    """A tensor whose memory has room for a view with larger bounds.

    A view has as many elements as the tensor, but the product of the bounds of dynamic sizes may be larger: a size such
    as `h // (h // 2)` has a bound of its own. ExecuTorch's runtime refuses a view that ends behind its memory.

    Attributes:
        least_bytes: the bytes of the largest view.
    """

    least_bytes: int

    @property
    def allocated_memory(self) -> int:
        size: int = max(self.least_bytes, self.nbytes())
        return size + -size % int(self.alignment)


@dataclass
class Planning:
    """Plans memory for tensors with usual dim orders.

    ExecuTorch's dim order of a tensor of the sizes [1, 1, 9, 9] and the strides (81, 1, 9, 1) is (0, 2, 1, 3), although
    the memory is contiguous. Views, kernels and callers expect the contiguous order.

    Attributes:
        planning_pass: ExecuTorch's pass, which gives each tensor a place.
    """

    planning_pass: MemoryPlanningPass

    def run(self, graph_module: GraphModule, graph_signature: ExportGraphSignature | None = None) -> PassResult:
        for spec in _specs(graph_module):
            spec.dim_order = usual_dim_order(spec.shape, spec.dim_order)
        _make_room_for_views(graph_module)
        planned: PassResult = self.planning_pass.run(graph_module, graph_signature)
        return planned


def _make_room_for_views(graph_module: GraphModule) -> None:
    for node in graphs.all_nodes(graph_module):
        viewed: graphs.Call = node
        while viewed.target is memory.view:
            viewed = viewed.args[0]
        if viewed is node:
            continue
        storage, least = viewed.meta["spec"], node.meta["spec"].nbytes()
        if least > getattr(storage, "least_bytes", storage.nbytes()):
            # The graph and its views have the object.
            storage.__class__ = _Storage
            storage.least_bytes = least


def _specs(graph_module: GraphModule) -> Iterator[TensorSpec]:
    """Yields the specs of all tensors of a graph and of its branches and loops, without views."""
    for node in graphs.all_nodes(graph_module):
        for spec in get_node_tensor_specs(node):
            if isinstance(spec, TensorSpec) and not isinstance(spec, _ViewSpec):
                yield spec
