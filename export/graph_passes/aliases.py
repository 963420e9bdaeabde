"""Alias analysis: the values of a graph that share memory after ExecuTorch's memory planning, and safe in-place writes.

ExecuTorch turns a call of view_copy into a view, unless the call is an output of the method. At the end of the method,
ExecuTorch copies the new values of buffers and of mutated inputs to the buffers and inputs.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from executorch.exir.delegate import executorch_call_delegate
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import Node
from torch.utils import _pytree as pytree

from export.graph_passes import graphs

_VIEW = graphs.EDGE.aten.view_copy.default
_AUTO_FUNCTIONALIZED = (
    torch.ops.higher_order.auto_functionalized,
    torch.ops.higher_order.auto_functionalized_v2,
)


class Aliases:
    """Groups the values of a graph by memory. Values that may share memory are in one group."""

    def __init__(self, program: ExportedProgram) -> None:
        self._program = program
        self._position = {node: position for position, node in enumerate(program.graph.nodes)}
        self._blocks = {node: [node] for node in self._position}
        for node in self._position:
            for source in _sources(node):
                self.join(node, source)
        self._writes = [(call, target) for call in self._position for target in written(call)]
        self._writes += [
            (program.graph.output_node(), written)
            for written, value in outputs(program)
            if written is not None and value is not written
        ]

    def of(self, node: Node) -> Sequence[Node]:
        """Returns the values that share memory with a value, including the value."""
        return self._blocks[node]

    def join(self, a: Node, b: Node) -> None:
        """Records that two values share memory."""
        block, other = self._blocks[a], self._blocks[b]
        if block is not other:
            block += other
            self._blocks.update((node, block) for node in other)

    def can_write(self, call: graphs.Call, target: Node) -> bool:
        """Returns whether a call may write to the memory of its argument `target`, and return `target`, not a copy."""
        block = self.of(target)
        if not self._is_writable(block) or self._is_needed(block, call, target):
            return False
        results = self.of(call)
        given = [(written, value) for written, value in outputs(self._program) if value in results]
        if self._is_copied(call, target):
            return False
        buffers = [node for node in block if node.op == "placeholder"]
        if not buffers or not given:
            return True
        # The buffer's new value must have the buffer's layout, since the method's final copy to the buffer falls away.
        # No output of the method may be in the buffer's memory.
        becomes = [value for written, value in given if written in buffers]
        return all(graphs.same_layouts(graphs.value(value), graphs.value(buffers[0])) for value in becomes) and all(
            written in buffers or (becomes and value.target is _VIEW) for written, value in given
        )

    def can_view(self, copy: graphs.Call, source: Node) -> bool:
        """Returns whether a call may return a view of its argument `source` in place of a copy."""
        views, sources = self.of(copy), self.of(source)
        for call, target in self._writes:
            if self._position[call] < self._position[copy]:
                continue
            if target in sources and self._is_needed(views, call):
                return False
            if target in views and (self._is_needed(sources, call) or not self._is_writable(sources)):
                return False
        return True

    def _is_copied(self, call: graphs.Call, target: Node) -> bool:
        """Returns whether the target or a view of the result would become a copy, which reads the memory of the base.

        ExecuTorch copies a view that is an output of the method, and has a view of a view read the first one's base.
        """
        given = [value for written, value in outputs(self._program) if written is None]
        is_copied = call in given and any(user.op != "output" for user in call.users)
        return target.target is _VIEW and (
            is_copied or any(user.target is _VIEW and user in given for user in call.users)
        )

    def _is_writable(self, block: Sequence[Node]) -> bool:
        """Returns whether the program may write to memory: no input or constant, and not shared with control flow."""
        signature = self._program.graph_signature
        # If a method mutates inputs, a write to a buffer would change the order of ExecuTorch's outputs.
        buffers = () if signature.user_inputs_to_mutate else signature.buffers_to_mutate.values()
        return not any(
            (node.op == "placeholder" and signature.inputs_to_buffers.get(node.name) not in buffers)
            or node.op == "get_attr"
            or is_control_flow(node)
            for node in block
        )

    def _is_needed(self, block: Sequence[Node], call: Node, target: Node | None = None) -> bool:
        """Returns whether values of `block` are read after a call, or by the call other than as argument `target`."""
        read = [node for node in _nodes((call.args, call.kwargs)) if node in block]
        return read != ([] if target is None else [target]) or any(
            self._position[user] > self._position[call] for node in block for user in node.users
        )


def outputs(program: ExportedProgram) -> list[tuple[Node | None, Any]]:
    """Returns the outputs of a method: the mutated buffer or input, None for the others, and the output value."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    buffers = {buffer: name for name, buffer in program.graph_signature.inputs_to_buffers.items()}
    names = {OutputKind.BUFFER_MUTATION: buffers, OutputKind.USER_INPUT_MUTATION: {name: name for name in nodes}}
    values = program.graph.output_node().args[0]
    return [
        (nodes[names[spec.kind][spec.target]] if spec.kind in names else None, value)
        for spec, value in zip(program.graph_signature.output_specs, values, strict=True)
    ]


def _sources(node: Node) -> Iterator[Node]:
    """Returns the arguments that a node's result may alias."""
    called = graphs.operator_of(node)
    if called is not None:
        for argument in called._schema.arguments:
            if argument.alias_info is not None:
                yield from _nodes(graphs.argument(node, argument.name))
    if node.target is _VIEW or node.target is operator.getitem:
        yield from _nodes(node.args[0])
    elif is_control_flow(node):
        yield from (source for source in node.all_input_nodes if source.op != "get_attr")


def written(node: Node) -> Iterator[Node]:
    """Yields the arguments that a node writes to."""
    called = graphs.operator_of(node)
    if called is not None:
        for argument in called._schema.arguments:
            if argument.is_write:
                yield from _nodes(graphs.argument(node, argument.name))
    elif node.target in _AUTO_FUNCTIONALIZED:  # ExecuTorch replaces the node by a call that writes.
        yield from node.all_input_nodes


def is_control_flow(node: Node) -> bool:
    """Returns whether a node is a higher-order operator, whose results may alias its arguments."""
    return isinstance(node.target, torch._ops.HigherOrderOperator) and node.target is not executorch_call_delegate


def _nodes(argument: Any) -> list[Node]:
    return [node for node in pytree.tree_leaves(argument) if isinstance(node, Node)]
