"""What graph passes share: reading graphs of the edge dialect, and changing them."""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from executorch.backends.transforms import utils
from executorch.exir.dialects._ops import ops
from executorch.exir.tensor import dim_order_from_stride
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, TensorArgument
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import optimization_hint, statically_known_true

EDGE: Any = ops.edge

# The dim order of images whose pixels have their channels next to each other.
CHANNELS_LAST = (0, 2, 3, 1)

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
    called = target if isinstance(target, torch._ops.OpOverload) else getattr(target, "_op", None)
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
    return _lies_in(tensor, range(tensor.dim()))


def has_late_sizes(tensor: torch.Tensor) -> bool:
    """Whether a size is known, but written as one that varies, as where a later call told the size.

    ExecuTorch takes the size for one that varies, and refuses views of the tensor whose own sizes are numbers.
    """
    return any(not isinstance(size, int) and _is_known(size) for size in tensor.shape)


def _is_known(size: torch.SymInt) -> bool:
    """Whether a size is the same for all inputs: it is a number, or what is assumed of sizes leaves one only."""
    node = size.node
    return bool(node.expr.is_number or (node.has_hint() and statically_known_true(size == node.hint)))


def view_sizes(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """The sizes that a call of `view_copy` gives a tensor; None where they are not known when the program is made.

    A view finds out one size when the program runs, -1, but not of a tensor without elements.
    """
    sizes = tuple(size if isinstance(size, int) else -1 for size in tensor.shape)
    return None if sizes.count(-1) > 1 or (-1 in sizes and 0 in sizes) else sizes


def is_channels_last(tensor: torch.Tensor) -> bool:
    """Whether the channels of a pixel are neighbors in memory, and so are pixels and rows."""
    return tensor.dim() == 4 and _lies_in(tensor, CHANNELS_LAST)


def _lies_in(tensor: torch.Tensor, order: Sequence[int]) -> bool:
    """Whether a tensor is known to lie in a dim order, whatever the inputs. Tensors' own methods may fix sizes."""
    stride: Any = 1
    for dim in reversed(order):
        size = tensor.shape[dim]
        if not statically_known_true(size == 1) and not statically_known_true(tensor.stride(dim) == stride):
            return any(statically_known_true(size == 0) for size in tensor.shape)
        stride = stride * torch.sym_max(size, 1)
    return True


def channels_last(tensor: torch.Tensor) -> torch.Tensor:
    """An image channels-last; as it is where that is the same order, so that there is one name for each order."""
    if is_channels_last(tensor):
        return tensor
    _, channels, height, width = tensor.shape
    strides = (channels * height * width, 1, channels * width, channels)
    return like(tensor, tensor.shape, strides)


def like(tensor: torch.Tensor, sizes: Sequence[Any], strides: Sequence[Any]) -> torch.Tensor:
    """A tensor without elements, of a tensor's dtype.

    PyTorch asks on the way whether sizes are 1, which is not noted: nothing is assumed of sizes that vary.
    """
    shapes = getattr(getattr(tensor, "fake_mode", None), "shape_env", None)
    with contextlib.nullcontext() if shapes is None else shapes.suppress_guards():
        return tensor.new_empty_strided(sizes, strides)


def dim_order(tensor: torch.Tensor) -> tuple[int, ...]:
    """The dimensions from the outermost to the innermost, in the first of the usual orders that fits."""
    if is_contiguous(tensor):
        return tuple(range(tensor.dim()))
    return CHANNELS_LAST if is_channels_last(tensor) else tuple(dim_order_from_stride(example(tensor).stride()))


def example(value: Any) -> Any:
    """A tensor or a size as in the example of the method's inputs, without elements: to ask for it fixes no size."""
    if isinstance(value, torch.Tensor):
        sizes, strides = (tuple(map(example, one)) for one in (value.shape, value.stride()))
        return torch.empty_strided(sizes, strides, dtype=value.dtype, device="meta")
    return optimization_hint(value, fallback=2) if isinstance(value, torch.SymInt) else value


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


def weight(program: ExportedProgram, node: Any) -> torch.Tensor | None:
    """The elements of a constant that has any: no layer of none is worth another operator; None for any other node."""
    tensor = constant(program, node)
    return tensor if tensor is not None and tensor.numel() > 0 else None


def number(program: ExportedProgram, value: Any) -> float | None:
    """A number, or the only element of a constant tensor."""
    if isinstance(value, int | float):
        return float(value)
    tensor = constant(program, value)
    return tensor.item() if tensor is not None and tensor.numel() == 1 and tensor.dim() <= 1 else None


def add_constant(program: ExportedProgram, name: str, tensor: torch.Tensor) -> Node:
    """A new constant of the program, before all else in the graph.

    Args:
        program: what gets the constant.
        name: how the name of the constant begins, which is that of no other node or tensor of the program.
        tensor: the elements.
    """
    graph, signature = program.graph, program.graph_signature
    key = _free_name(program, name)
    with graph.inserting_before(next(iter(graph.nodes))):
        node: Node = graph.placeholder(key)
    node.target = node.name  # Names of nodes that are gone are not given again.
    fakes = (one.fake_mode for one in map(value, graph.nodes) if isinstance(one, FakeTensor))
    elements = tensor.detach().contiguous()
    # ExecuTorch takes the dim order from the strides, which may be any where sizes are 1.
    elements = elements.as_strided(elements.shape, torch.empty(elements.shape, device="meta").stride())
    node.meta["val"] = next(fakes).from_tensor(elements, static_shapes=True)
    program.constants[key] = elements
    spec = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), key)
    program._graph_signature = ExportGraphSignature([spec, *signature.input_specs], signature.output_specs)
    return node


def _free_name(program: ExportedProgram, name: str) -> str:
    taken = {*program.state_dict, *program.constants, *(node.name for node in program.graph.nodes)}
    names = itertools.chain([name], (f"{name}_{count}" for count in itertools.count(1)))
    return next(one for one in names if one not in taken)


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


def is_only_for(node: Node, last: Node) -> bool:
    """Whether only `last` needs a node, itself or by other calls: what `last` computes can be computed in `node`."""
    found, waiting = {last}, [node]
    while waiting:
        users = waiting.pop().users.keys() - found
        # Results of the method, and checks of values, have no users.
        if not all(user.users for user in users):
            return False
        found |= users
        waiting += users
    return True


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
