"""Keeps reflection and replication padding whole: one call of a kernel pads all dimensions.

ExecuTorch's own lowering computes a tensor of indices for each padded dimension, in the program, and copies the input
once for each dimension.
"""

from __future__ import annotations

from torch.export import ExportedProgram

from export.graph_passes import graphs
from export.graph_passes.calls import (
    Pad,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
)
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

# The operators of the modes of torch.nn.functional.pad, by the number of padded dimensions.
_OF_MODES = {
    "reflect": (ReflectionPad1d, ReflectionPad2d, ReflectionPad3d),
    "replicate": (ReplicationPad1d, ReplicationPad2d, ReplicationPad3d),
}
_WHOLE = tuple(operator for operators in _OF_MODES.values() for operator in operators)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    for node, pad in Pad.each(sites):
        if pad.mode in _OF_MODES:
            operator = _OF_MODES[pad.mode][len(pad.pad) // 2 - 1]
            operator(pad.input, pad.pad).write(node)
    targets = [operator.overload() for operator in _WHOLE]
    return [Change.of(node, f"{graphs.name_of(node)} kept whole") for node in sites.calls(*targets)]


PASS = GraphPass(
    "padding_modes",
    Stage.EXPORTED,
    _run,
    reference=(
        "keeps `reflection_pad` and `replication_pad` whole, so that the program computes no indices and copies the "
        "input once"
    ),
    is_default=True,
    preserved=tuple(operator.overload() for operator in _WHOLE),
)
