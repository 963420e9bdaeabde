"""What graph passes share: reading graphs of the edge dialect, and changing them."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from executorch.backends.transforms import utils
from executorch.exir.dialects._ops import ops
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

EDGE: Any = ops.edge

# A node that calls an operator, whose schema says what its arguments are: the types of torch.fx do not.
Call = Any


def calls(program: ExportedProgram, *targets: Any) -> Iterator[Call]:
    """The calls of some operators, in the order of the graph, which may change meanwhile."""
    for node in list(program.graph.nodes):
        if node.op == "call_function" and node.target in targets:
            yield node


def operator_of(node: Node) -> torch._ops.OpOverload | None:
    """PyTorch's operator that a node calls, also where the node calls it in ExecuTorch's edge dialect."""
    target: Any = node.target
    called = getattr(target, "_op", target)
    return called if node.op == "call_function" and isinstance(called, torch._ops.OpOverload) else None


def name_of(node: Node) -> str:
    """The operator that a node calls, as PyTorch names it."""
    called = operator_of(node)
    return str(called.name()) if called else node.name


def value(node: Call) -> Any:
    """What the node gives, without its elements."""
    return node.meta.get("val")


def argument(node: Node, name: str) -> Any:
    """An argument of a call, by position, by keyword or by default."""
    target: Any = node.target
    schema = target._schema
    for position, one in enumerate(schema.arguments):
        if one.name == name:
            return node.args[position] if position < len(node.args) else node.kwargs.get(name, one.default_value)
    raise KeyError(name)


def same_sizes(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether sizes are known to be equal, whatever the inputs."""
    return len(a) == len(b) and all(statically_known_true(x == y) for x, y in zip(a, b, strict=True))


def is_contiguous(tensor: torch.Tensor) -> bool:
    """Whether elements lie in the order of their indices."""
    return bool(statically_known_true(tensor.is_contiguous()))


def same_layouts(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether tensors are known to have the same sizes and order in memory."""
    return same_sizes(a.shape, b.shape) and same_sizes(a.stride(), b.stride())


def constant(program: ExportedProgram, node: Any) -> torch.Tensor | None:
    """The elements of a weight or another tensor that no call of the method changes; None for any other node."""
    if not isinstance(node, Node) or node.op != "placeholder":
        return None
    signature = program.graph_signature
    if signature.inputs_to_buffers.get(node.name) in signature.buffers_to_mutate.values():
        return None
    if not utils.is_param_node(program, node):
        return None
    tensor: torch.Tensor | None = utils.get_param_tensor(program, node)
    return tensor


def number(program: ExportedProgram, value: Any) -> float | None:
    """A number, or the only element of a constant tensor."""
    if isinstance(value, int | float):
        return float(value)
    tensor = constant(program, value)
    return tensor.item() if tensor is not None and tensor.numel() == 1 and tensor.dim() <= 1 else None


def add_constant(program: ExportedProgram, name: str, tensor: torch.Tensor) -> Node:
    """A new constant of the program, before all else in the graph."""
    first = next(node for node in program.graph.nodes if node.op == "placeholder")
    with program.graph.inserting_before(first):
        node: Node = utils.create_constant_placeholder(
            program, program.graph, name, InputKind.CONSTANT_TENSOR, tensor.detach().contiguous()
        )
    return node


def replace(node: Node, by: Node) -> None:
    """Has users of a node use another, and erases the node."""
    node.replace_all_uses_with(by)
    node.graph.erase_node(node)


def insert_call(before: Node, target: Any, args: tuple[Any, ...], result: Any) -> Node:
    """A call in front of a node, with what is known of that node's origin."""
    with before.graph.inserting_before(before):
        call = before.graph.call_function(target, args)
    call.meta = {**before.meta, "val": result}
    return call


def first_result_only(node: Node) -> bool:
    """Whether of an operator's results only the first is used."""
    return all(user.target is operator.getitem and user.args[1] == 0 for user in node.users)


def is_output(node: Node) -> bool:
    """Whether the method gives the node out, or writes it to a buffer."""
    return any(user.op == "output" for user in node.users)


def finish(program: ExportedProgram) -> None:
    """Drops calls and constants that nothing uses any more."""
    program.graph.eliminate_dead_code()
    for node in list(program.graph.nodes):
        if not node.users and constant(program, node) is not None:
            utils.delete_constant_placeholder(program, node)
    program.graph.lint()
    program.graph_module.recompile()
