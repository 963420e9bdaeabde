"""Replaces elementwise functions between a dequantization and a quantization, and changes of scale, by tables."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, graphs, quantized
from export.graph_passes.call import Call, first
from export.graph_passes.graph_pass import Change, GraphPass, Stage

# Elementwise functions of the first argument. All other arguments are numbers.
_FUNCTIONS = (
    *(calls.Abs, calls.AddScalar, calls.Clamp, calls.DivScalar, calls.Elu, calls.Exp, calls.Gelu, calls.Hardsigmoid),
    *(calls.Hardswish, calls.Hardtanh, calls.LeakyRelu, calls.MulScalar, calls.Neg, calls.PowTensorScalar, calls.Relu),
    *(calls.Sigmoid, calls.SubScalar, calls.Tanh),
)


def _rewrite(program: ExportedProgram, last: Node, quantize: calls.QuantizePerTensor[Node]) -> Change | None:
    functions, before = _functions(quantize.input)
    found = quantized.dequantized(before)
    of_result = quantized.Parameters.of(quantize)
    if found is None or of_result is None:
        return None
    source, parameters = found
    table = _table(parameters, functions, of_result)
    if graphs.value(source).dtype == table.dtype and _changes_nothing(table, parameters):
        return Change(last, "bytes that become the same bytes", source)
    # The padding moves after the table, next to a convolution that may take the padding in.
    pad = calls.ConstantPadNd.of(source) if len(source.users) == 1 else None
    padding = int(table[int(pad.value) % 256]) if pad and not isinstance(pad.value, Node) else None
    if pad is not None and padding is not None:
        source = pad.input
    lookup = calls.QuantizedLookup.of(source) if len(source.users) == 1 else None
    table_of_first = graphs.constant(program, lookup.table) if lookup else None
    if lookup is not None and table_of_first is not None:
        table = table[table_of_first.view(torch.uint8).long()]
        source = lookup.input
    constant = graphs.add_constant(program, f"{last.name}_table", table)
    node = calls.QuantizedLookup(source, constant).insert(last, graphs.value(source).to(table.dtype))
    by = node if pad is None or padding is None else pad.replace(input=node, value=padding)
    names = ", ".join(function.OPERATOR for function in functions) or "a change of scale"
    return Change(last, f"{names} made a table of bytes", by)


def _functions(node: Node) -> tuple[list[Call[Node]], Node]:
    """Returns the chain of elementwise functions that ends at a node, in order, and the input of the first."""
    functions: list[Call[Node]] = []
    while call := first(_FUNCTIONS, node):
        functions.insert(0, call)
        node = call.input
    return functions, node


def _changes_nothing(table: torch.Tensor, parameters: quantized.Parameters) -> bool:
    """Returns whether a table maps each byte from quant_min to quant_max to itself."""
    same = torch.arange(256, dtype=torch.uint8).view(table.dtype)
    low, high = parameters.quant_min, parameters.quant_max
    return bool(torch.equal(table.clamp(low, high), same.clamp(low, high)))


def _table(
    parameters: quantized.Parameters, functions: Sequence[Call[Node]], of_result: quantized.Parameters
) -> torch.Tensor:
    """Returns the table of the functions' results, indexed by the bits of a byte."""
    x = parameters.dequantize(torch.arange(256, dtype=torch.uint8).view(parameters.dtype)).compute()
    for function in functions:
        x = function.replace(input=x).compute()
    table: torch.Tensor = of_result.quantize(x).compute()
    return table


PASS = GraphPass(
    "quantized_tables",
    Stage.LOWERED,
    roots=(calls.QuantizePerTensor,),
    rewrite=_rewrite,
    reference=(
        "replaces an elementwise function between a dequantization and a quantization (`gelu`, `hardtanh`, a change of "
        "scale) by a table of 256 results: `rules_executorch::quantized_lookup.out`. Removes a table that changes "
        "nothing"
    ),
    after=("quantized_moves",),
)
