"""Functions that read and change graphs of the edge dialect, for graph passes."""

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
from torch.export.graph_signature import ExportGraphSignature, InputKind, InputSpec, OutputKind, TensorArgument
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import optimization_hint, statically_known_true

from export.user.dense_tensors import channels_last_order

EDGE: Any = ops.edge

# The numbers of dimensions of images and volumes, which may be channels-last.
IMAGE_DIMS = (4, 5)

# A node that calls an operator. The arguments have the types of the operator's schema, which torch.fx cannot express.
Call = Any


def all_nodes(module: GraphModule) -> Iterator[Node]:
    """Yields the nodes of a graph and of its branches and loops."""
    for one in module.modules():
        if isinstance(one, GraphModule):
            yield from one.graph.nodes


def operator_of(node: Node) -> torch._ops.OpOverload | None:
    """Returns PyTorch's operator that a node calls, directly or in the edge dialect; None for any other node."""
    target: Any = node.target
    called = target if isinstance(target, torch._ops.OpOverload) else getattr(target, "_op", None)
    return called if node.op == "call_function" and isinstance(called, torch._ops.OpOverload) else None


def name_of(node: Node) -> str:
    """Returns the full name of the operator that a node calls; the node's name for any other node."""
    called = operator_of(node)
    return str(called.name()) if called else node.name


def value(node: Call) -> Any:
    """Returns the fake tensor or the symbolic value of a node's result."""
    return node.meta.get("val")


def argument(node: Node, name: str) -> Any:
    """Returns an argument of a call by name, whether given by position, by keyword or by default."""
    target: Any = node.target
    schema = target._schema
    for position, one in enumerate(schema.arguments):
        if one.name == name:
            return node.args[position] if position < len(node.args) else node.kwargs.get(name, one.default_value)
    raise KeyError(name)


def is_true(condition: bool | torch.SymBool) -> bool:
    """Returns whether a comparison of sizes is statically known to be true, for all inputs.

    PyTorch's `statically_known_true` also takes guards for facts: earlier comparisons, with the results for the example
    inputs. An exported program does not check all of its guards. With the guard `height * width == 1` of an example
    image of one pixel, a contiguous image would be channels-last for all inputs.
    """
    if not isinstance(condition, torch.SymBool):
        return condition
    node = condition.node
    known = node.shape_env._maybe_evaluate_static(node.expr, axioms=())
    return known is not None and bool(known)


def same_sizes(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Returns whether sizes are statically known to be equal, for all inputs."""
    return len(a) == len(b) and all(is_true(x == y) for x, y in zip(a, b, strict=True))


def is_empty(tensor: torch.Tensor) -> bool:
    """Returns whether a tensor is statically known to have no elements, for all inputs."""
    return any(is_true(size == 0) for size in tensor.shape)


def is_contiguous(tensor: torch.Tensor) -> bool:
    """Returns whether a tensor is statically known to be contiguous, for all inputs."""
    return _lies_in(tensor, range(tensor.dim()))


def has_late_sizes(tensor: torch.Tensor) -> bool:
    """Returns whether a symbolic size of a tensor has only one possible value, as after a guard of a later call.

    ExecuTorch takes such a size for dynamic, and refuses views of the tensor with fixed sizes.
    """
    return any(not isinstance(size, int) and _is_known(size) for size in tensor.shape)


def _is_known(size: torch.SymInt) -> bool:
    """Returns whether a symbolic size is the same for all inputs: a number, or the only value that guards allow."""
    node = size.node
    return bool(node.expr.is_number or (node.has_hint() and statically_known_true(size == node.hint)))


def view_sizes(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """Returns the sizes for a call of `view_copy` with the tensor as its result; None if there are none.

    One symbolic size becomes -1, unless another size is 0: a view without elements cannot infer a size. Two or more
    symbolic sizes give None.
    """
    sizes = tuple(size if isinstance(size, int) else -1 for size in tensor.shape)
    return None if sizes.count(-1) > 1 or (-1 in sizes and 0 in sizes) else sizes


def is_channels_last(tensor: torch.Tensor) -> bool:
    """Returns whether a tensor is statically known to be a dense channels-last image or volume."""
    return tensor.dim() in IMAGE_DIMS and _lies_in(tensor, channels_last_order(tensor.dim()))


def _lies_in(tensor: torch.Tensor, order: Sequence[int]) -> bool:
    """Returns whether a tensor is statically known to have a dim order. Methods of the tensor could add guards."""
    places = zip(tensor.shape, tensor.stride(), strides(tensor.shape, order), strict=True)
    is_dense = all(is_true(size == 1) or is_true(stride == expected) for size, stride, expected in places)
    return is_dense or is_empty(tensor)


def channels_last(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the fake tensor of a channels-last image or volume; the tensor itself if it already is channels-last."""
    if is_channels_last(tensor):
        return tensor
    _, channels, *sizes = tensor.shape
    strides = [channels]
    for size in reversed(sizes):
        strides.insert(0, strides[0] * size)
    return like(tensor, tensor.shape, (strides[0], 1, *strides[1:]))


def like(tensor: torch.Tensor, sizes: Sequence[Any], strides: Sequence[Any]) -> torch.Tensor:
    """Returns a fake tensor with a tensor's dtype and other sizes and strides.

    PyTorch compares sizes with 1 on the way. The guards of these comparisons are suppressed, so that symbolic sizes
    keep their ranges.
    """
    shapes = getattr(getattr(tensor, "fake_mode", None), "shape_env", None)
    with contextlib.nullcontext() if shapes is None else shapes.suppress_guards():
        return tensor.new_empty_strided(sizes, strides)


def strides(sizes: Sequence[Any], order: Sequence[int]) -> list[Any]:
    """Returns the strides of a dense tensor in a dim order."""
    result: list[Any] = [0] * len(sizes)
    stride: Any = 1
    for dim in reversed(order):
        result[dim] = stride
        stride = stride * torch.sym_max(sizes[dim], 1)
    return result


def dim_order(tensor: torch.Tensor) -> tuple[int, ...]:
    """Returns a tensor's dim order: contiguous or channels-last if it fits; otherwise by the example's strides."""
    if is_contiguous(tensor):
        return tuple(range(tensor.dim()))
    if is_channels_last(tensor):
        return channels_last_order(tensor.dim())
    return tuple(dim_order_from_stride(example(tensor).stride()))


def example(value: Any) -> Any:
    """Replaces symbolic sizes by those of the example inputs, without guards. Tensors become meta tensors."""
    if isinstance(value, torch.Tensor):
        sizes, strides = (tuple(map(example, one)) for one in (value.shape, value.stride()))
        return torch.empty_strided(sizes, strides, dtype=value.dtype, device="meta")
    return optimization_hint(value, fallback=2) if isinstance(value, torch.SymInt) else value


def same_layouts(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Returns whether tensors are statically known to have the same sizes and strides."""
    return same_sizes(a.shape, b.shape) and same_sizes(a.stride(), b.stride())


def constant(program: ExportedProgram, node: Any) -> torch.Tensor | None:
    """Returns the tensor of a parameter, constant or buffer that the method never changes; None for any other node."""
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
    """Returns a constant with at least one element; None for any other node. Passes leave layers without weights."""
    tensor = constant(program, node)
    return tensor if tensor is not None and tensor.numel() > 0 else None


def number(program: ExportedProgram, value: Any) -> float | None:
    """Returns a real number, or the only element of a constant tensor; None for any other value."""
    if isinstance(value, int | float):
        return float(value)
    tensor = constant(program, value)
    is_number = tensor is not None and tensor.numel() == 1 and tensor.dim() <= 1 and not tensor.is_complex()
    return tensor.item() if tensor is not None and is_number else None


def add_constant(program: ExportedProgram, name: str, tensor: torch.Tensor) -> Node:
    """Adds a constant to a program. Its placeholder is the first node of the graph.

    Args:
        program: the program.
        name: the beginning of the constant's name. A suffix makes the name unique in the program.
        tensor: the elements.
    """
    graph, signature = program.graph, program.graph_signature
    key = _free_name(program, name)
    with graph.inserting_before(next(iter(graph.nodes))):
        node: Node = graph.placeholder(key)
    node.target = node.name  # torch.fx never gives the name of an erased node again.
    fakes = (one.fake_mode for one in map(value, graph.nodes) if isinstance(one, FakeTensor))
    elements = tensor.detach().contiguous()
    # ExecuTorch derives the dim order from the strides. Strides of dimensions of size 1 may be arbitrary.
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
    """Replaces all uses of a node by another node, and erases the node."""
    node.replace_all_uses_with(by)
    node.graph.erase_node(node)


def insert_call(before: Node, target: Any, args: tuple[Any, ...], result: Any) -> Node:
    """Inserts a call before a node, and copies that node's metadata, such as the stack trace."""
    with before.graph.inserting_before(before):
        call = before.graph.call_function(target, args)
    call.meta = {**before.meta, "val": result}
    return call


def only_user(node: Node) -> Node | None:
    """Returns the only user of a node; None if there are several users, or none."""
    return next(iter(node.users)) if len(node.users) == 1 else None


def first_result_only(node: Node) -> bool:
    """Returns whether a graph uses only the first of an operator's results."""
    return all(user.target is operator.getitem and user.args[1] == 0 for user in node.users)


def is_only_for(node: Node, last: Node) -> bool:
    """Returns whether all paths from `node` lead to `last`, so that `node` can compute the result of `last`."""
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
    """Returns whether a node is an output of the method or the new value of a buffer."""
    return any(user.op == "output" for user in node.users)


def user_inputs(program: ExportedProgram) -> Iterator[tuple[str, Any]]:
    """Yields the name and the value of each input of the user."""
    values = {node.name: value(node) for node in program.graph.find_nodes(op="placeholder")}
    for spec in program.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            yield spec.arg.name, values.get(spec.arg.name)


def expression(size: int | torch.SymInt) -> Any:
    """Returns a size as a number or as an expression of symbols, of SymPy."""
    return size.node.expr if isinstance(size, torch.SymInt) else size


def written_inputs(program: ExportedProgram) -> list[int]:
    """Returns the positions of the inputs that a method writes to, in the order in which ExecuTorch returns them."""
    signature = program.graph_signature
    inputs = [name for name, _ in user_inputs(program)]
    outputs = [spec.target for spec in signature.output_specs if spec.kind == OutputKind.USER_INPUT_MUTATION]
    return [inputs.index(name) for name in outputs]


def finish(program: ExportedProgram) -> None:
    """Removes unused calls and constants."""
    program.graph.eliminate_dead_code()
    for node in list(program.graph.nodes):
        if not node.users and constant(program, node) is not None:
            utils.delete_constant_placeholder(program, node)
    program.graph.lint()
    program.graph_module.recompile()
