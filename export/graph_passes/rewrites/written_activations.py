"""Makes an activation one call: a function that ExecuTorch decomposes, or the calls by which a model writes one.

The pass runs before the passes that change the order of images, which then meet one call. The pass `activations` fuses
the call into the layer before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, graphs
from export.graph_passes.call import Call
from export.graph_passes.graph_pass import Change, GraphPass, Stage

# The functions that PyTorch has as one operator. ExecuTorch's lowering would decompose the operators.
_NAMED = (calls.Celu, calls.Hardsigmoid, calls.Hardswish, calls.LogSigmoid, calls.Mish, calls.Softplus, calls.Threshold)


def _rewrite(program: ExportedProgram, node: Node, call: Call[Node]) -> Change | None:
    found = _named(call) or _written(program, node)
    if found is None or not _is_same_kind(graphs.value(found.input), graphs.value(node)):
        return None
    graphs.replace(node, found.insert(node, graphs.value(node)))
    # Calls without a user would count as users of their inputs.
    program.graph.eliminate_dead_code()
    return Change(node, f"{found.activation} made one call")


def _is_same_kind(x: torch.Tensor, result: torch.Tensor) -> bool:
    return x.is_floating_point() and x.dtype == result.dtype and graphs.same_sizes(x.shape, result.shape)


def with_numbers(x: Node, name: str, *parameters: float | Node) -> calls.Activation[Node] | None:
    """Returns an activation of a tensor; None if a run computes a parameter."""
    numbers = [float(one) for one in parameters if not isinstance(one, Node)]
    return calls.Activation(x, name, *numbers) if len(numbers) == len(parameters) else None


def _named(call: Call[Node]) -> calls.Activation[Node] | None:
    """Returns the activation that a call of a function of PyTorch computes; None for any other call."""
    match call:
        case calls.Hardswish(x) | calls.Hardsigmoid(x) | calls.Mish(x) | calls.LogSigmoid(x):
            return calls.Activation(x, type(call).__name__.lower())
        case calls.Celu(x, alpha):
            return with_numbers(x, "celu", alpha)
        case calls.Threshold(x, threshold, value):
            return with_numbers(x, "threshold", threshold, value)
        case calls.Softplus(x, beta, threshold):
            return with_numbers(x, "softplus", beta, threshold)
    return None


def _written(program: ExportedProgram, node: Node) -> calls.Activation[Node] | None:
    """Returns the activation whose last call is a node: a product, quotient, difference or choice. None otherwise."""
    if choice := calls.WhereSelf.of(node):
        return _chosen(program, choice)
    if difference := calls.SubTensor.of(node):
        tanh = calls.Tanh.of(difference.other)
        is_tanhshrink = tanh is not None and tanh.input is difference.input and difference.alpha == 1
        return calls.Activation(difference.input, "tanhshrink") if is_tanhshrink and _ends(difference.other) else None
    if quotient := calls.DivTensor.of(node):
        x, size = quotient.input, calls.Abs.of(_without_added(program, quotient.other, 1))
        if size is not None and size.input is x and _ends(quotient.other):
            return calls.Activation(x, "softsign")
    factor, nodes = _factors(program, node)
    if len(nodes) == 1 and math.isclose(factor, 1 / 6, rel_tol=1e-6) and _ends(nodes[0]):
        x_of_gate = _hard_gate(program, nodes[0])
        return calls.Activation(x_of_gate, "hardsigmoid") if x_of_gate is not None else None
    for x, gate in (nodes, nodes[::-1]) if len(nodes) == 2 else ():
        found = _gated(program, factor, x, gate) if _ends(gate) else None
        if found is not None:
            return found
    return None


def _chosen(program: ExportedProgram, choice: calls.WhereSelf[Node]) -> calls.Activation[Node] | None:
    """Returns the activation that chooses between functions of x, as PyTorch decomposes it; None if it is none.

    leaky_relu: where(x > 0, x, slope * x), also for PReLU with one slope
    hardshrink: where(|x| <= lambd, 0, x)
    softshrink: where(|x| > lambd, x - sign(x) * lambd, x * 0)
    """
    above, at_most = calls.GtScalar.of(choice.condition), calls.LeScalar.of(choice.condition)
    limit = above or at_most
    if limit is None or not _ends(choice.condition):
        return None
    size = calls.Abs.of(limit.input)
    if at_most:
        is_hardshrink = size and size.input is choice.other and _number(program, choice.input) == 0
        return with_numbers(choice.other, "hardshrink", at_most.other) if is_hardshrink else None
    factor, nodes = _factors(program, choice.other)
    if limit.input is choice.input and limit.other == 0 and nodes == [choice.input] and _ends(choice.other):
        return calls.Activation(choice.input, "leaky_relu", factor)
    difference = calls.SubTensor.of(choice.input)
    if size is None or difference is None or (factor, nodes) != (0, [size.input]):
        return None
    lambd, signs = _factors(program, difference.other)
    sign = calls.Sign.of(signs[0]) if len(signs) == 1 else None
    is_shrunk = difference.input is size.input and difference.alpha == 1 and sign and sign.input is size.input
    is_softshrink = is_shrunk and isinstance(limit.other, float) and math.isclose(lambd, limit.other, rel_tol=1e-6)
    return with_numbers(size.input, "softshrink", limit.other) if is_softshrink else None


def _gated(program: ExportedProgram, factor: float, x: Node, gate: Node) -> calls.Activation[Node] | None:
    """Returns the activation factor * x * gate, where the gate is a function of x; None if it is none."""

    def is_factor(number: float) -> bool:
        return math.isclose(factor, number, rel_tol=1e-6)

    if is_factor(1 / 6) and _hard_gate(program, gate) is x:
        return calls.Activation(x, "hardswish")
    if is_factor(1):
        if sigmoid := calls.Sigmoid.of(gate):
            beta, nodes = _factors(program, sigmoid.input)
            if sigmoid.input is x or nodes == [x]:
                return calls.Activation(x, "silu") if sigmoid.input is x else calls.Activation(x, "swish", beta)
        one = calls.Activation.of(gate)
        if one and one.activation == "hardsigmoid" and one.input is x:
            return calls.Activation(x, "hardswish")
        tanh = calls.Tanh.of(gate)
        inner = calls.Activation.of(tanh.input) if tanh else None
        if inner and (inner.activation, inner.minimum, inner.input) == ("softplus", 1, x) and inner.maximum >= 20:
            return calls.Activation(x, "mish")
    if is_factor(0.5):
        function = _without_added(program, gate, 1)
        if erf := calls.Erf.of(function):
            scale, nodes = _factors(program, erf.input)
            return (
                calls.Activation(x, "gelu")
                if nodes == [x] and math.isclose(scale, math.sqrt(0.5), rel_tol=1e-6)
                else None
            )
        tanh = calls.Tanh.of(function)
        return calls.Activation(x, "gelu_tanh") if tanh and _is_gelu_argument(program, x, tanh.input) else None
    return None


def _hard_gate(program: ExportedProgram, gate: Node) -> Node | None:
    """Returns x of min(max(x + 3, 0), 6); None for any other node."""
    hardtanh, clamp = calls.Hardtanh.of(gate), calls.Clamp.of(gate)
    if hardtanh and (hardtanh.min_val, hardtanh.max_val) == (0, 6):
        return _without_added(program, hardtanh.input, 3)
    return _without_added(program, clamp.input, 3) if clamp and (clamp.min, clamp.max) == (0, 6) else None


def _is_gelu_argument(program: ExportedProgram, x: Node, argument: Node) -> bool:
    """Returns whether a node is sqrt(2 / pi) * (x + 0.044715 * x ** 3), as in Hugging Face's transformers."""
    scale, nodes = _factors(program, argument)
    if len(nodes) != 1 or not math.isclose(scale, math.sqrt(2 / math.pi), rel_tol=1e-6):
        return False
    for one, other in _addends(nodes[0]):
        weight, cubes = _factors(program, other)
        cube = calls.PowTensorScalar.of(cubes[0]) if len(cubes) == 1 else None
        if one is x and cube and cube.input is x and cube.exponent == 3:
            return math.isclose(weight, 0.044715, rel_tol=1e-6)
    return False


def _ends(node: Node) -> bool:
    """Returns whether a node has one user, so that the node ends if the user does."""
    return len(node.users) == 1


def _factors(program: ExportedProgram, node: Node | float, *, is_last: bool = True) -> tuple[float, list[Node]]:
    """Returns a product as a number and tensors.

    A factor that is itself a product, and has no other user, counts as its factors.
    """
    value = _number(program, node)
    if value is not None or not isinstance(node, Node):
        return value or 0, []
    if is_last or _ends(node):
        if product := calls.MulTensor.of(node) or calls.MulScalar.of(node):
            of_both = [_factors(program, one, is_last=False) for one in (product.input, product.other)]
            return of_both[0][0] * of_both[1][0], [*of_both[0][1], *of_both[1][1]]
        quotient = calls.DivTensor.of(node) or calls.DivScalar.of(node)
        divisor = _number(program, quotient.other) if quotient else None
        if quotient and divisor:
            factor, nodes = _factors(program, quotient.input, is_last=False)
            return factor / divisor, nodes
    return 1, [node]


def _without_added(program: ExportedProgram, node: Node | None, number: float) -> Node | None:
    """Returns the other addend of a sum with a number; None for any other node."""
    for one, other in _addends(node):
        if _number(program, other) == number:
            return one
    return None


def _addends(node: Node | None) -> Iterator[tuple[Node, Node | float]]:
    """Yields the addends of a sum in both orders; nothing for any other node."""
    total = calls.AddTensor.of(node) or calls.AddScalar.of(node)
    if total and total.alpha == 1:
        yield total.input, total.other
        if isinstance(total.other, Node):
            yield total.other, total.input


def _number(program: ExportedProgram, value: Node | float) -> float | None:
    """Returns a number, the only element of a constant, or that of a converted constant; None for any other value."""
    copy = calls.ToDimOrderCopy.of(value)
    one = copy.input if copy else value
    tensor = graphs.constant(program, one)
    # A constant may have more dimensions than the activation's argument: the shape of the result then differs.
    is_number = tensor is not None and tensor.numel() == 1 and not tensor.is_complex()
    return tensor.item() if tensor is not None and is_number else graphs.number(program, one)


PASS = GraphPass(
    "written_activations",
    Stage.LOWERED,
    roots=(
        *_NAMED,
        calls.DivScalar,
        calls.DivTensor,
        calls.MulScalar,
        calls.MulTensor,
        calls.SubTensor,
        calls.WhereSelf,
    ),
    rewrite=_rewrite,
    reference=(
        "makes an activation that ExecuTorch decomposes (`hardswish`, `hardsigmoid`, `mish`, `softplus`, `celu`, "
        "`logsigmoid`, `hardshrink`, `softshrink`, `threshold`, `prelu` with one slope), or that a model writes as "
        "several calls (such as `x * torch.sigmoid(x)` or `torch.where(x > 0, x, 0.1 * x)`), one call: "
        "`rules_executorch::activation.out`"
    ),
    after=("constants", "quantized_tables"),
    preserved=tuple(one.overload() for one in _NAMED),
)
