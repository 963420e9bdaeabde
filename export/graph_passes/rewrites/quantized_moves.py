"""Moves views, permutations, padding and concatenations before the dequantization, so that they move bytes.

The calls change no values, and floats take more memory than bytes. Padding also moves after the quantization.
"""

from __future__ import annotations

from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import calls, graphs, quantized
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

# The result of each operator has elements of the first argument, none of them twice. Padding adds one value.
_MOVES = (
    calls.Cat,
    calls.ConstantPadNd,
    calls.PermuteCopy,
    calls.SelectCopyInt,
    calls.SliceCopyTensor,
    calls.SqueezeCopyDims,
    calls.UnsqueezeCopy,
    calls.ViewCopy,
)


def _run(_: ExportedProgram, sites: Sites) -> list[Change]:
    """Rewrites in two steps: padding moves after the quantization only if it cannot move before the dequantization."""
    return [*sites.rewrite(_MOVES, _move_before), *sites.rewrite((calls.ConstantPadNd,), _move_after)]


def _move_before(_: ExportedProgram, node: Node, call: Any) -> Change | None:
    found = _of_bytes(call)
    if found is None:
        return None
    move, parameters = found
    moved = move.insert(node, graphs.value(node).to(parameters.dtype))
    return Change(node, f"{graphs.name_of(node)} of bytes", parameters.dequantize(moved))


def _move_after(_: ExportedProgram, node: Node, pad: calls.ConstantPadNd[Node]) -> Change | None:
    user = graphs.only_user(node)
    of_result = quantized.Parameters.of(calls.QuantizePerTensor.of(user))
    if user is None or of_result is None or isinstance(pad.value, Node):
        return None
    source = of_result.quantize(pad.input).insert(user, graphs.value(pad.input).to(of_result.dtype))
    moved_pad = pad.replace(input=source, value=of_result.quantized(float(pad.value)))
    graphs.replace(user, moved_pad.insert(user, graphs.value(user)))
    return Change(node, f"{graphs.name_of(node)} of bytes")


def _of_bytes(call: Any) -> tuple[Any, quantized.Parameters] | None:
    """Returns the call on bytes for a call on dequantized floats, and the parameters; None if there is none."""
    if isinstance(call, calls.Cat):
        tensors = [quantized.dequantized(one) for one in call.tensors]
        known = [one for one in tensors if one is not None]
        if len(known) != len(tensors) or len({parameters for _, parameters in known}) != 1:
            return None
        return call.replace(tensors=tuple(source for source, _ in known)), known[0][1]
    found = quantized.dequantized(call.input)
    if found is None:
        return None
    source, parameters = found
    if not isinstance(call, calls.ConstantPadNd):
        return call.replace(input=source), parameters
    if isinstance(call.value, Node):
        return None
    byte = parameters.quantized(float(call.value))
    is_exact = (byte - parameters.zero_point) * parameters.scale == float(call.value)
    return (call.replace(input=source, value=byte), parameters) if is_exact else None


PASS = GraphPass(
    "quantized_moves",
    Stage.LOWERED,
    run=_run,
    reference=(
        "in a quantized program, moves views, permutations, slices, padding and `cat` before the dequantization, and "
        "padding also after the quantization, so that these calls move bytes and not floats"
    ),
    is_default=True,
    after=("constants",),
)
