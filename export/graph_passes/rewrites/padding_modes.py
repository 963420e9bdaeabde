"""Keeps reflection and replication padding whole: one call of a kernel pads all dimensions.

ExecuTorch's own lowering computes a tensor of indices for each padded dimension, in the program, and copies the input
once for each dimension.
"""

from __future__ import annotations

from typing import Any

from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import graphs, padding_operators
from export.graph_passes.calls import Pad
from export.graph_passes.graph_pass import Change, GraphPass, Stage


def _rewrite(_: ExportedProgram, node: Node, pad: Any) -> Change | None:
    if isinstance(pad, Pad):
        operators = padding_operators.OF_MODES.get(pad.mode)
        if operators is None:
            return None
        operators[len(pad.pad) // 2 - 1](pad.input, pad.pad).write(node)
    return Change(node, f"{graphs.name_of(node)} kept whole")


PASS = GraphPass(
    "padding_modes",
    Stage.EXPORTED,
    roots=(Pad, *padding_operators.ALL),
    rewrite=_rewrite,
    reference=(
        "keeps `reflection_pad` and `replication_pad` whole, so that the program computes no indices and copies the "
        "input once"
    ),
    is_default=True,
    preserved=tuple(operator.overload() for operator in padding_operators.ALL),
)
