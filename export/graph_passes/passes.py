"""The graph passes: their names, their order, which ones run, and running them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torch.export import ExportedProgram

from diagnostics.errors import Finding, InputError
from diagnostics.suggest import did_you_mean, nearest
from export.graph_passes import (
    activations,
    addends,
    attention,
    batch_norm,
    channels_last,
    channels_of_bytes,
    constants,
    dynamic_linear,
    in_place,
    linear,
    no_ops,
    packed_linear,
    padding,
    quantized_add,
    quantized_layers,
    quantized_moves,
    quantized_tables,
    report,
    rms_norm,
    uneven_padding,
    views,
    weight_only,
    winograd,
)
from export.graph_passes.graph_pass import GraphPass, Stage
from export.graph_passes.report import PassReport
from export.model_file import Method

# In the order in which they run, which is not that of the names in `graph_passes`.
_PASSES: Sequence[GraphPass] = (
    attention.PASS,
    linear.PASS,
    batch_norm.PASS,
    padding.PASS,
    no_ops.PASS,
    constants.PASS,
    quantized_moves.PASS,
    quantized_tables.PASS,
    quantized_layers.PASS,
    quantized_add.PASS,
    channels_of_bytes.PASS,
    dynamic_linear.PASS,
    weight_only.PASS,
    rms_norm.PASS,
    uneven_padding.PASS,
    packed_linear.PASS,
    channels_last.PASS,
    addends.PASS,
    activations.PASS,
    winograd.PASS,
    in_place.PASS,
    views.PASS,
)
# The operators of these need kernels that ExecuTorch's own library of kernels has not.
_ON_REQUEST = frozenset(
    one.PASS.name
    for one in (
        attention,
        linear,
        quantized_tables,
        quantized_layers,
        quantized_add,
        channels_of_bytes,
        weight_only,
        dynamic_linear,
        rms_norm,
        uneven_padding,
        packed_linear,
        channels_last,
        addends,
        activations,
        winograd,
    )
)
# Names that stand for several passes.
_GROUPS: Mapping[str, frozenset[str]] = {
    "all": frozenset(one.name for one in _PASSES),
    "default": frozenset(one.name for one in _PASSES) - _ON_REQUEST,
}


def select(names: Sequence[str]) -> tuple[GraphPass, ...]:
    """The passes that names stand for, in the order in which they run.

    Args:
        names: passes and groups of passes; with a `-` before it, what is left out of the others.
    Raises:
        InputError: there is no such pass.
    """
    known = [*_GROUPS, *sorted(one.name for one in _PASSES)]
    for name in (name.removeprefix("-") for name in names):
        if name not in known:
            raise InputError(
                Finding(
                    "attribute graph_passes",
                    f"there is no pass {name}{did_you_mean(nearest(name, known))}",
                    "a typo, or a pass of another version.",
                    f"give some of {', '.join(known)}; -NAME leaves one out; an empty list is for none."
                    " get_edge_passes() in the model file is for passes of your own.",
                    id="unknown-graph-pass",
                )
            )
    wanted = _members(name for name in names if not name.startswith("-"))
    unwanted = _members(name.removeprefix("-") for name in names if name.startswith("-"))
    return tuple(one for one in _PASSES if one.name in wanted - unwanted)


def _members(names: Iterable[str]) -> frozenset[str]:
    return frozenset(one for name in names for one in _GROUPS.get(name, (name,)))


def run(
    passes: Sequence[GraphPass], stage: Stage, method: Method, program: ExportedProgram, *, is_partitioned: bool
) -> tuple[PassReport, ...]:
    """Runs the passes of a stage on a method, whose graph they change in place; says what they did."""
    if stage is Stage.EXPORTED and is_partitioned:
        reason = "the method has partitioners, which look for operators of their own choice"
        return tuple(report.of_pass(method, one.name, (), reason) for one in passes if one.stage is stage)
    return tuple(report.of_pass(method, one.name, one.run(program)) for one in passes if one.stage is stage)
