"""Rewrites calculations with sizes and other numbers for which ExecuTorch's runtime has other results than Python.

`executorch_prim::mod` of the runtime is C++'s operator `%`, which rounds the quotient to zero: `-5 % 4` is -1. Python
rounds the quotient down, so that `-5 % 4` is 3. Models pad images with `(-height) % 4` rows. The runtime has no powers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from torch.export import ExportedProgram
from torch.fx import GraphModule, Node

_MOST_FACTORS = 8


def rewrite(program: ExportedProgram) -> None:
    """Computes remainders by a division that rounds down, and powers by products. Changes the graphs in place."""
    for module in program.graph_module.modules():
        if isinstance(module, GraphModule):
            for node in module.graph.find_nodes(op="call_function", target=operator.mod):
                _divide(node)
            for node in module.graph.find_nodes(op="call_function", target=operator.pow):
                _multiply(node)
            module.recompile()


def _divide(remainder: Node) -> None:
    """Makes `a % b` the equal `a - a // b * b`. The node stays, since the signature may have its name."""
    dividend, divisor = remainder.args
    quotient = _insert(remainder, operator.floordiv, dividend, divisor)
    product = _insert(remainder, operator.mul, quotient, divisor)
    remainder.target = operator.sub
    remainder.args = (dividend, product)


def _multiply(power: Node) -> None:
    """Makes `a ** 3` the equal `a * a * a`. Leaves other exponents, which ExecuTorch refuses."""
    base, exponent = power.args
    if isinstance(exponent, int) and 1 < exponent <= _MOST_FACTORS:
        product = base
        for _ in range(exponent - 2):
            product = _insert(power, operator.mul, product, base)
        power.target = operator.mul
        power.args = (product, base)


def _insert(before: Node, function: Callable[..., Any], *arguments: Any) -> Node:
    with before.graph.inserting_before(before):
        node = before.graph.call_function(function, arguments)
    values = [one.meta["val"] if isinstance(one, Node) else one for one in arguments]
    node.meta = {**before.meta, "val": function(*values)}
    return node
