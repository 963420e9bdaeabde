"""Moves bytes, not the floats that they stand for: views, permutations, padding and concatenations change no values.

Moves come before the dequantization, padding also behind the quantization.
"""

from __future__ import annotations

from torch.export import ExportedProgram

from export.graph_passes import graphs, quantized
from export.graph_passes.graph_pass import Change, GraphPass, Stage

_ATEN = graphs.EDGE.aten
_PAD = _ATEN.constant_pad_nd.default
_CAT = _ATEN.cat.default
# Each gives elements of its first argument, none of them twice.
_MOVES = (
    _ATEN.permute_copy.default,
    _ATEN.select_copy.int,
    _ATEN.slice_copy.Tensor,
    _ATEN.squeeze_copy.dims,
    _ATEN.unsqueeze_copy.default,
    _ATEN.view_copy.default,
)


def _run(program: ExportedProgram) -> list[Change]:
    if not quantized.is_quantized(program):
        return []
    changes = []
    for move in graphs.calls(program, *_MOVES, _PAD, _CAT):
        sources = list(move.args[0]) if move.target is _CAT else [move.args[0]]
        found = [one for one in map(quantized.dequantized, sources) if one is not None]
        if len(found) != len(sources) or len({parameters for _, parameters in found}) != 1:
            continue
        parameters = found[0][1]
        inputs = [source for source, _ in found]
        args = (inputs if move.target is _CAT else inputs[0], *move.args[1:])
        if move.target is _PAD:
            value = float(graphs.argument(move, "value"))
            byte = parameters.quantized(value)
            if (byte - parameters.zero_point) * parameters.scale != value:
                continue
            args = (*args[:2], byte)
        changes.append(Change.of(move, f"{graphs.name_of(move)} of bytes"))
        floats = graphs.value(move)
        moved = graphs.insert_call(move, move.target, args, floats.to(parameters.dtype))
        result = graphs.insert_call(move, quantized.dequantize(), (moved, *parameters.as_args()), floats)
        graphs.replace(move, result)
    for pad in graphs.calls(program, _PAD):
        quantize = next(iter(pad.users))
        of_bytes = quantized.Parameters.of(quantize)
        if len(pad.users) != 1 or quantize.target is not quantized.quantize() or of_bytes is None:
            continue
        changes.append(Change.of(pad, f"{graphs.name_of(pad)} of bytes"))
        floats = graphs.argument(pad, "self")
        value = graphs.value(floats).to(of_bytes.dtype)
        source = graphs.insert_call(quantize, quantized.quantize(), (floats, *of_bytes.as_args()), value)
        args = (source, pad.args[1], of_bytes.quantized(float(graphs.argument(pad, "value"))))
        graphs.replace(quantize, graphs.insert_call(quantize, _PAD, args, graphs.value(quantize)))
    graphs.finish(program)
    return changes


PASS = GraphPass("quantized_moves", Stage.LOWERED, _run)
