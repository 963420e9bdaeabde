"""Lowers an exported model with a set of graph passes, and runs what comes out in PyTorch."""

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
from export import dense_tensors, model_file, samples, tracing
from export.graph_passes import passes
from export.graph_passes.graph_pass import Stage
from export.graph_passes.snapshot import forget_pending_symbols
from export.graph_passes.tests import rewriting
from export.user_file import Inputs, UserFile
from tools.zoo.messages import first_line, one_line
from tools.zoo.results import Problem


class StepError(Exception):
    """A step raised something."""

    def __init__(self, step: str, error: BaseException) -> None:
        cause = error.__cause__ or error
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.problem = Problem(step, one_line(cause))


def method(module: torch.nn.Module, given: Sequence[torch.Tensor]) -> model_file.Method:
    """A module as the exporter takes it."""
    source = UserFile(Path(__file__), kind="model", rule="executorch_program")
    inputs = Inputs(tuple(given))
    return model_file.Method("forward", module, None, inputs, None, (inputs,), source, Location(__file__))


def export(of: model_file.Method, recorded: Sequence[samples.Sample]) -> ExportedProgram:
    """Exports a method, as the exporter does it.

    Args:
        of: the method.
        recorded: its eager results.

    Raises:
        StepError: the step is `torch.export`.
    """
    try:
        exported = tracing.trace(of, recorded)
    except Exception as error:
        raise StepError("torch.export", error) from error
    dense_tensors.lay_out(exported)
    return exported


@dataclass(frozen=True)
class Program:
    """A lowered program.

    Attributes:
        edge: what ExecuTorch made.
        graph: its method.
        changes: how many changes the passes made.
        left_out: what passes left as it was because they raised.
    """

    edge: EdgeProgramManager
    graph: ExportedProgram
    changes: int
    left_out: tuple[str, ...]

    def run(self, given: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """What the graph gives, run by PyTorch.

        Raises:
            StepError: a node raised, or gives what the graph does not say of it.
        """
        try:
            return rewriting.Rewritten(self.graph).run(tuple(one.clone() for one in given))
        except Exception as error:
            raise StepError("run", error) from error

    def emit(self) -> bytes:
        """The program as a file.

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
        exported: the method exported; it stays as it is.
        names: of graph passes.
    Raises:
        StepError: ExecuTorch raised; the step is `lowering`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of torch's own copying.
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
    """The operators that a program calls, less the runtime's own."""
    with tempfile.NamedTemporaryFile(suffix=".pte") as file:
        file.write(program)
        file.flush()
        return program_reader.read(file.name, "model").calls.keys() - prim_ops.PRIM_OPS


def least_snr(expected: Sequence[torch.Tensor], actual: Sequence[torch.Tensor]) -> float | None:
    """The decibels by which an output is stronger than what differs, of the output where they are the fewest.

    None if all are the same. Values that are not finite count as different by as much as the output is strong, unless
    both have the same. So do integers and truth values.
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
