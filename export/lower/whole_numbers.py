"""Rewrites calculations with sizes and other numbers for which ExecuTorch's runtime has other results than Python.

`executorch_prim::mod` of the runtime is C++'s operator `%`, which rounds the quotient to zero: `-5 % 4` is -1. Python
rounds the quotient down, so that `-5 % 4` is 3. Models pad images with `(-height) % 4` rows. The runtime has no powers,
no shifts, no `abs`, no `math.floor`, and maxima and minima of whole numbers only.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses import FakeTensor
from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

from export.graph_passes import graphs

_MOST_FACTORS = 8


def rewrite(program: ExportedProgram) -> None:
    """Writes calculations as others, which the runtime does as Python does. Changes the graphs in place."""
    for module in program.graph_module.modules():
        if isinstance(module, GraphModule):
            for function, rewritten in _REWRITTEN.items():
                for node in module.graph.find_nodes(op="call_function", target=function):
                    rewritten(node)
            module.recompile()


def _divide(remainder: Node) -> None:
    """Makes `a % b` the equal `a - a // b * b`. The node stays, since the signature may have its name."""
    dividend, divisor = remainder.args
    quotient = _insert(remainder, operator.floordiv, dividend, divisor)
    product = _insert(remainder, operator.mul, quotient, divisor)
    _become(remainder, operator.sub, dividend, product)


def _multiply(power: Node) -> None:
    """Makes `a ** 3` the equal `a * a * a`, `a ** -3` its inverse, and `a ** 0.5` the power of a tensor.

    Leaves other exponents, which ExecuTorch refuses.
    """
    base, exponent = power.args
    if isinstance(exponent, float):
        mode = next(one.fake_mode for one in map(graphs.value, power.graph.nodes) if isinstance(one, FakeTensor))
        with mode:
            result = torch.empty((), dtype=torch.float64)
        tensor = graphs.insert_call(power, graphs.EDGE.aten.full.default, ([], base), result)
        tensor.kwargs = {"dtype": torch.float64}
        tensor = graphs.insert_call(power, graphs.EDGE.aten.pow.Tensor_Scalar, (tensor, exponent), result)
        _become(power, torch.ops.aten._local_scalar_dense.default, tensor)
    elif isinstance(exponent, int) and 0 < abs(exponent) <= _MOST_FACTORS and exponent != 1:
        product = base
        for _ in range(abs(exponent) - 1 - (exponent > 0)):
            product = _insert(power, operator.mul, product, base)
        if exponent > 0:
            _become(power, operator.mul, product, base)
        else:
            _become(power, operator.truediv, 1.0, product)


def _round_down(floor: Node) -> None:
    (number,) = floor.args
    _become(floor, operator.neg, _insert(floor, math.ceil, _insert(floor, operator.neg, number)))


def _absolute(absolute: Node) -> None:
    (number,) = absolute.args
    is_negative = _insert(absolute, operator.lt, number, 0)
    _become(absolute, torch.sym_ite, is_negative, _insert(absolute, operator.neg, number), number)


def _compare(chosen: Node) -> None:
    """Makes the maximum or minimum of floats a choice. Leaves those of whole numbers, which may be sizes."""
    values = [one.meta["val"] if isinstance(one, Node) else one for one in chosen.args]
    if all(isinstance(value, int | torch.SymInt) for value in values):
        return
    known = next(_insert(chosen, torch.sym_float, one) for one in chosen.args if isinstance(one, Node))
    none = _insert(chosen, operator.mul, known, 0.0)
    # PyTorch chooses between symbols only.
    one, other = (_insert(chosen, operator.add, none, value) for value in chosen.args)
    comparison = operator.ge if chosen.target is torch.sym_max else operator.le
    _become(chosen, torch.sym_ite, _insert(chosen, comparison, one, other), one, other)


def _shift(shifted: Node) -> None:
    number, bits = shifted.args
    if isinstance(bits, int):
        _become(shifted, operator.floordiv if shifted.target is operator.rshift else operator.mul, number, 2**bits)


_REWRITTEN: dict[Callable[..., Any], Callable[[Node], None]] = {
    operator.abs: _absolute,
    operator.lshift: _shift,
    operator.mod: _divide,
    operator.pow: _multiply,
    operator.rshift: _shift,
    math.floor: _round_down,
    torch.sym_max: _compare,
    torch.sym_min: _compare,
}


def _become(node: Node, function: Callable[..., Any], *arguments: Any) -> None:
    node.target, node.args = function, arguments


def _insert(before: Node, function: Callable[..., Any], *arguments: Any) -> Node:
    values = [one.meta["val"] if isinstance(one, Node) else one for one in arguments]
    return graphs.insert_call(before, function, arguments, function(*values))
