"""Moves views, permutations, padding and concatenations before the dequantization, so that they move bytes.

The calls change no values, and floats take more memory than bytes. Padding also moves after the quantization.
"""

from __future__ import annotations

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, quantized
from export.graph_passes.calls import (
    Cat,
    ConstantPadNd,
    PermuteCopy,
    QuantizePerTensor,
    SelectCopyInt,
    SliceCopyTensor,
    SqueezeCopyDims,
    UnsqueezeCopy,
    ViewCopy,
)
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

# The result of each operator has elements of the first argument, none of them twice.
_MOVES = (PermuteCopy, SelectCopyInt, SliceCopyTensor, SqueezeCopyDims, UnsqueezeCopy, ViewCopy)
_Move = (
    Cat[Node]
    | ConstantPadNd[Node]
    | PermuteCopy[Node]
    | SelectCopyInt[Node]
    | SliceCopyTensor[Node]
    | SqueezeCopyDims[Node]
    | UnsqueezeCopy[Node]
    | ViewCopy[Node]
)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    changes = []
    for node in sites:
        found = _of_bytes(node)
        if found is None:
            continue
        move, parameters = found
        changes.append(Change.of(node, f"{graphs.name_of(node)} of bytes"))
        floats = graphs.value(node)
        moved = move.insert(node, floats.to(parameters.dtype))
        graphs.replace(node, parameters.dequantize(moved).insert(node, floats))
    for node, pad in ConstantPadNd.each(sites):
        user = next(iter(node.users)) if len(node.users) == 1 else None
        of_result = quantized.Parameters.of(QuantizePerTensor.of(user))
        if user is None or of_result is None or isinstance(pad.value, Node):
            continue
        changes.append(Change.of(node, f"{graphs.name_of(node)} of bytes"))
        source = of_result.quantize(pad.input).insert(user, graphs.value(pad.input).to(of_result.dtype))
        moved_pad = pad.replace(input=source, value=of_result.quantized(float(pad.value)))
        graphs.replace(user, moved_pad.insert(user, graphs.value(user)))
    return changes


def _of_bytes(node: Node) -> tuple[_Move, quantized.Parameters] | None:
    """Returns the call on bytes for a call on dequantized floats, and the parameters; None if there is none."""
    if cat := Cat.of(node):
        tensors = [quantized.dequantized(one) for one in cat.tensors]
        found = [one for one in tensors if one is not None]
        if len(found) != len(tensors) or len({parameters for _, parameters in found}) != 1:
            return None
        return cat.replace(tensors=tuple(source for source, _ in found)), found[0][1]
    if pad := ConstantPadNd.of(node):
        of_pad = quantized.dequantized(pad.input)
        if of_pad is None or isinstance(pad.value, Node):
            return None
        source, parameters = of_pad
        byte = parameters.quantized(float(pad.value))
        is_exact = (byte - parameters.zero_point) * parameters.scale == float(pad.value)
        return (pad.replace(input=source, value=byte), parameters) if is_exact else None
    move = next((call for call in (one.of(node) for one in _MOVES) if call), None)
    of_move = quantized.dequantized(move.input) if move else None
    return (move.replace(input=of_move[0]), of_move[1]) if move and of_move else None


PASS = GraphPass(
    "quantized_moves",
    Stage.LOWERED,
    _run,
    reference=(
        "in a quantized program, moves views, permutations, slices, padding and `cat` before the dequantization, and "
        "padding also after the quantization, so that these calls move bytes and not floats"
    ),
    is_default=True,
    after=("constants",),
)
