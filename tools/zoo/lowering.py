"""Lowers an exported model with a set of graph passes, and runs the lowered graph in PyTorch."""

from __future__ import annotations

import copy
import math
import tempfile
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from executorch.exir import EdgeCompileConfig, EdgeProgramManager, to_edge_transform_and_lower
from torch.export import ExportedProgram

from codegen.inputs import program_reader
from codegen.model import prim_ops
from diagnostics.errors import Location
from export.graph_passes import passes
from export.graph_passes.graph_pass import Stage
from export.graph_passes.snapshot import forget_pending_symbols
from export.graph_passes.tests import rewriting
from export.lower import tracing
from export.memory import dense_state
from export.user import model_file, samples
from export.user.inputs import Inputs
from export.user.source import Source
from tools.zoo.messages import first_line, one_line
from tools.zoo.results import Problem


class StepError(Exception):
    """A step raised an exception."""

    def __init__(self, step: str, error: BaseException) -> None:
        cause = error.__cause__ or error
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.problem = Problem(step, one_line(cause))


def method(module: torch.nn.Module, given: Sequence[torch.Tensor]) -> model_file.Method:
    """Returns a module as a method for the exporter."""
    source = Source(Path(__file__), kind="model", rule="executorch_program")
    inputs = Inputs(tuple(given))
    return model_file.Method("forward", module, None, inputs, None, (inputs,), source, Location(__file__))


def export(of: model_file.Method, recorded: Sequence[samples.Sample]) -> ExportedProgram:
    """Exports a method as the exporter does.

    Args:
        of: the method.
        recorded: the eager results of the method.

    Raises:
        StepError: the export raised. The step is `torch.export`.
    """
    try:
        exported = tracing.trace(of, recorded)
    except Exception as error:
        raise StepError("torch.export", error) from error
    dense_state.lay_out(exported)
    return exported


@dataclass(frozen=True)
class Program:
    """A lowered program.

    Attributes:
        edge: ExecuTorch's program manager.
        graph: the method of the program.
        changes: the number of changes of the passes.
        left_out: the calls that passes left unchanged because they raised.
    """

    edge: EdgeProgramManager
    graph: ExportedProgram
    changes: int
    left_out: tuple[str, ...]

    def run(self, given: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Runs the graph in PyTorch. Returns the outputs.

        Raises:
            StepError: a node raised, or its result differs from the node's fake tensor.
        """
        try:
            return rewriting.Rewritten(self.graph).run(tuple(one.clone() for one in given))
        except Exception as error:
            raise StepError("run", error) from error

    def emit(self) -> bytes:
        """Returns the bytes of the program's file.

        Raises:
            StepError: ExecuTorch raised.
        """
        try:
            return bytes(self.edge.to_executorch().buffer)
        except Exception as error:
            raise StepError("emit", error) from error


def lower(of: model_file.Method, exported: ExportedProgram, names: Sequence[str]) -> Program:
    """Lowers an exported method.

    Args:
        of: the method.
        exported: the exported method, which does not change.
        names: the names of graph passes.
    Raises:
        StepError: ExecuTorch raised. The step is `lowering`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns about its own copies.
        program = copy.deepcopy(exported)
    forget_pending_symbols(program)
    selected = passes.select(names)
    reports = list(passes.run(selected, Stage.EXPORTED, of, program, is_partitioned=False))
    preserved = [operator for one in selected for operator in one.preserved]
    config = EdgeCompileConfig(_check_ir_validity=False, preserve_ops=preserved)
    try:
        edge = to_edge_transform_and_lower(program, compile_config=config)
    except Exception as error:
        raise StepError("lowering", error) from error
    graph = edge.exported_program()
    reports += passes.run(selected, Stage.LOWERED, of, graph, is_partitioned=False)
    changes = sum(len(report.changes) for report in reports)
    left_out = [first_line(failure.found) for report in reports for failure in report.failures]
    return Program(edge, graph, changes, tuple(dict.fromkeys(left_out)))


def operators(program: bytes) -> Collection[str]:
    """Returns the operators that a program calls, without the runtime's own operators."""
    with tempfile.NamedTemporaryFile(suffix=".pte") as file:
        file.write(program)
        file.flush()
        return program_reader.read(file.name, "model").calls.keys() - prim_ops.PRIM_OPS


def least_snr(expected: Sequence[torch.Tensor], actual: Sequence[torch.Tensor]) -> float | None:
    """Returns the lowest signal-to-noise ratio of the outputs in decibels; None if all outputs are equal.

    Different values that are not finite, and different integers and bools, count as a difference of the strength of the
    output.
    """
    found = [_snr(*both) for both in zip(expected, actual, strict=True)]
    return min((one for one in found if one is not None), default=None)


def _snr(expected: torch.Tensor, actual: torch.Tensor) -> float | None:
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return -math.inf
    same = (expected == actual) | (torch.isnan(expected) & torch.isnan(actual))
    if bool(same.all()):
        return None
    if not expected.is_floating_point() or not bool(torch.isfinite(actual[~same]).all()):
        return 0.0
    kept = torch.isfinite(expected)
    if not bool(kept[~same].all()):
        return 0.0
    noise = (actual - expected)[kept & ~same].double().norm().item()
    return round(20 * math.log10(max(expected[kept].double().norm().item(), 1e-30) / noise), 1)
