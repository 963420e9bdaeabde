"""Keeps reflection and replication padding whole: one call of a kernel pads all dimensions.

ExecuTorch's own lowering computes a tensor of indices for each padded dimension, in the program, and copies the input
once for each dimension.
"""

from __future__ import annotations

from torch.export import ExportedProgram

from export.graph_passes import graphs, padding_operators
from export.graph_passes.calls import Pad
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage

_WHOLE = tuple(operator.overload() for operator in padding_operators.ALL)


def _run(program: ExportedProgram, sites: Sites) -> list[Change]:
    for node, pad in Pad.each(sites):
        operators = padding_operators.OF_MODES.get(pad.mode)
        if operators is not None:
            operators[len(pad.pad) // 2 - 1](pad.input, pad.pad).write(node)
    return [Change.of(node, f"{graphs.name_of(node)} kept whole") for node in sites.calls(*_WHOLE)]


PASS = GraphPass(
    "padding_modes",
    Stage.EXPORTED,
    _run,
    reference=(
        "keeps `reflection_pad` and `replication_pad` whole, so that the program computes no indices and copies the "
        "input once"
    ),
    is_default=True,
    preserved=_WHOLE,
)
