"""Replaces elementwise functions between a dequantization and a quantization, and changes of scale, by tables."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, quantized
from export.graph_passes.call import Call
from export.graph_passes.calls import (
    Abs,
    AddScalar,
    Clamp,
    ConstantPadNd,
    DivScalar,
    Elu,
    Exp,
    Gelu,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyRelu,
    MulScalar,
    Neg,
    PowTensorScalar,
    QuantizedLookup,
    QuantizePerTensor,
    Relu,
    Sigmoid,
    SubScalar,
    Tanh,
)
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

# Elementwise functions of the first argument. All other arguments are numbers.
_FUNCTIONS = (
    Abs,
    AddScalar,
    Clamp,
    DivScalar,
    Elu,
    Exp,
    Gelu,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyRelu,
    MulScalar,
    Neg,
    PowTensorScalar,
    Relu,
    Sigmoid,
    SubScalar,
    Tanh,
)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    for last, quantize in QuantizePerTensor.each(sites):
        functions, before = _functions(quantize.input)
        found = quantized.dequantized(before)
        of_result = quantized.Parameters.of(quantize)
        if found is None or of_result is None:
            continue
        source, parameters = found
        table = _table(parameters, functions, of_result)
        if graphs.value(source).dtype == table.dtype and _changes_nothing(table, parameters):
            changes.append(Change.of(last, "bytes that become the same bytes"))
            graphs.replace(last, source)
            continue
        names = ", ".join(function.OPERATOR for function in functions) or "a change of scale"
        changes.append(Change.of(last, f"{names} made a table of bytes"))
        # The padding moves after the table, next to a convolution that may take the padding in.
        pad = ConstantPadNd.of(source) if len(source.users) == 1 else None
        padding = int(table[int(pad.value) % 256]) if pad and not isinstance(pad.value, Node) else None
        if pad is not None and padding is not None:
            source = pad.input
        first = QuantizedLookup.of(source) if len(source.users) == 1 else None
        table_of_first = graphs.constant(program, first.table) if first else None
        if first is not None and table_of_first is not None:
            table = table[table_of_first.view(torch.uint8).long()]
            source = first.input
        constant = graphs.add_constant(program, f"{last.name}_table", table)
        node = QuantizedLookup(source, constant).insert(last, graphs.value(source).to(table.dtype))
        if pad is not None and padding is not None:
            node = pad.replace(input=node, value=padding).insert(last, graphs.value(last))
        graphs.replace(last, node)
    return changes


def _functions(node: Node) -> tuple[list[Call[Node]], Node]:
    """Returns the chain of elementwise functions that ends at a node, in order, and the input of the first."""
    functions: list[Call[Node]] = []
    while call := next((call for call in (function.of(node) for function in _FUNCTIONS) if call), None):
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
    _run,
    reference=(
        "replaces an elementwise function between a dequantization and a quantization (`gelu`, `hardtanh`, a change of "
        "scale) by a table of 256 results: `rules_executorch::quantized_lookup.out`. Removes a table that changes "
        "nothing"
    ),
    after=("quantized_moves",),
)
