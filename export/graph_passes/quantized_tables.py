"""Makes functions of single bytes a table: those between a dequantization and a quantization, and changes of scale."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, quantized
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_PAD = _ATEN.constant_pad_nd.default
# Functions of each element of their first argument, whose other arguments are numbers.
_FUNCTIONS = (
    _ATEN.abs.default,
    _ATEN.add.Scalar,
    _ATEN.clamp.default,
    _ATEN.div.Scalar,
    _ATEN.elu.default,
    _ATEN.exp.default,
    _ATEN.gelu.default,
    _ATEN.hardsigmoid.default,
    _ATEN.hardswish.default,
    _ATEN.hardtanh.default,
    _ATEN.leaky_relu.default,
    _ATEN.mul.Scalar,
    _ATEN.neg.default,
    _ATEN.pow.Tensor_Scalar,
    _ATEN.relu.default,
    _ATEN.sigmoid.default,
    _ATEN.sub.Scalar,
    _ATEN.tanh.default,
)


def _run(program: ExportedProgram) -> list[Change]:
    if not quantized.is_quantized(program):
        return []
    from export.graph_passes import quantized_operators  # noqa: F401, registers them for programs that have them.

    lookup = graphs.EDGE.rules_executorch.quantized_lookup.default
    changes = []
    for last in graphs.calls(program, quantized.quantize()):
        calls = [last]
        while isinstance(calls[0].args[0], Node) and calls[0].args[0].target in _FUNCTIONS:
            calls.insert(0, calls[0].args[0])
        found = quantized.dequantized(calls[0].args[0])
        if found is None or quantized.Parameters.of(last) is None:
            continue
        source, parameters = found
        table = _table(parameters, calls)
        if graphs.value(source).dtype == table.dtype and _changes_nothing(table, parameters):
            changes.append(Change.of(last, "bytes that become the same bytes"))
            graphs.replace(last, source)
            continue
        names = ", ".join(graphs.name_of(call) for call in calls[:-1]) or "a change of scale"
        changes.append(Change.of(last, f"{names} made a table of bytes"))
        # Padding comes behind the table, next to the convolution that may do it.
        pad = source if source.target is _PAD and len(source.users) == 1 else None
        padding = None if pad is None else int(table[graphs.argument(pad, "value") % 256])
        source = source if pad is None else graphs.argument(pad, "self")
        if source.target is lookup and len(source.users) == 1:
            first = graphs.constant(program, source.args[1])
            assert first is not None
            table = table[first.view(torch.uint8).long()]
            source = graphs.argument(source, "input")
        constant = graphs.add_constant(program, f"{last.name}_table", table)
        result = graphs.value(source).to(table.dtype)
        node = graphs.insert_call(last, lookup, (source, constant), result)
        if pad is not None:
            node = graphs.insert_call(last, _PAD, (node, pad.args[1], padding), graphs.value(last))
        graphs.replace(last, node)
    graphs.finish(program)
    return changes


def _changes_nothing(table: torch.Tensor, parameters: quantized.Parameters) -> bool:
    """Whether all bytes that there may be become themselves."""
    same = torch.arange(256, dtype=torch.uint8).view(table.dtype)
    low, high = parameters.quant_min, parameters.quant_max
    return bool(torch.equal(table.clamp(low, high), same.clamp(low, high)))


def _table(parameters: quantized.Parameters, calls: list[graphs.Call]) -> torch.Tensor:
    """What the calls make of each byte, by its bits."""
    x: Any = torch.arange(256, dtype=torch.uint8).view(parameters.dtype)
    x = quantized.dequantize()(x, *parameters.as_args())
    for call in calls:
        x = call.target(x, *call.args[1:], **call.kwargs)
    assert isinstance(x, torch.Tensor)
    return x


PASS = GraphPass("quantized_tables", Stage.LOWERED, _run)
