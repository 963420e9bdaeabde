"""Measures one model: makes and exports the model, lowers it with each set of graph passes, and compares outputs."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.export import ExportedProgram

from export.user import samples
from export.user.model_file import Method
from tools.zoo import lowering, models, results, runner
from tools.zoo.architectures import Architecture
from tools.zoo.lowering import StepError
from tools.zoo.messages import one_line
from tools.zoo.results import PASSES, Lowered, Problem, Row

# The seconds of timed inferences, and the largest number of inferences.
_SECONDS, _TIMES = 1.0, 100


@dataclass(frozen=True)
class Kernels:
    """The kernels of programs.

    Attributes:
        provided: the operators with kernels.
        runner: a runner with all kernels; None for no runs with kernels.
    """

    provided: Collection[str] = ()
    runner: Path | None = None


@dataclass(frozen=True)
class _Exported:
    """An exported model with its eager results.

    Attributes:
        method: the model.
        program: the exported program.
        given: the inputs.
        expected: the outputs of the eager model.
        samples: the inputs and outputs, as the bytes of a file.
        iterations: the number of inferences to time.
    """

    method: Method
    program: ExportedProgram
    given: Sequence[torch.Tensor]
    expected: Sequence[torch.Tensor]
    samples: bytes
    iterations: int


def prepare() -> None:
    """Exports a small model, so that forked processes have the caches of PyTorch and ExecuTorch."""
    module, given = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval(), [torch.ones(1, 2)]
    method = lowering.method(module, given)
    program = lowering.export(method, samples.record(method).samples)
    _lowered(_Exported(method, program, given, [module(*given).detach()], b"", 0), PASSES["all"], Kernels())


def measure(
    architecture: Architecture, kernels: Kernels, tell: Callable[[Row], None], *, with_cache: bool = False
) -> None:
    """Measures one model, and reports the row after each step.

    Args:
        architecture: the architecture of the model.
        kernels: the kernels of programs.
        tell: receives the row so far. If the process ends, the last row names the step.
        with_cache: see models.make().
    """
    row = Row(architecture.kind, architecture.model, problem=Problem("config", results.BEGUN))
    tell(row)
    try:
        made = models.make(architecture, with_cache=with_cache)
    except models.NoInputsError as error:
        tell(dataclasses.replace(row, problem=Problem("inputs", one_line(error))))
        return
    except Exception as error:
        tell(dataclasses.replace(row, problem=Problem("config", one_line(error))))
        return
    row = dataclasses.replace(
        row,
        kind=made.kind,
        inputs=", ".join(f"{name} {'x'.join(map(str, value.shape))}" for name, value in made.inputs.items()),
        parameters=made.parameters,
        problem=Problem("torch.export", results.BEGUN),
    )
    tell(row)
    try:
        exported, seconds = _exported(made, is_timed=kernels.runner is not None)
    except StepError as error:
        tell(dataclasses.replace(row, problem=error.problem))
        return
    row = dataclasses.replace(row, problem=None, eager=seconds)
    for name, names in PASSES.items():
        tell(_with(row, name, Lowered(Problem("lowering", results.BEGUN))))
        row = _with(row, name, _lowered(exported, names, kernels))
        tell(row)
    if any(one.problem or not one.is_equal for one in row.lowered.values()):
        # A lowering without passes shows whether a pass is at fault.
        tell(_with(row, "none", Lowered(Problem("lowering", results.BEGUN))))
        tell(_with(row, "none", _lowered(exported, (), kernels)))


def _with(row: Row, name: str, lowered: Lowered) -> Row:
    return dataclasses.replace(row, lowered={**row.lowered, name: lowered})


def _exported(made: models.Made, *, is_timed: bool) -> tuple[_Exported, float | None]:
    """Exports a model. Returns the exported model, and the seconds of an eager inference."""
    given = list(made.inputs.values())
    method = lowering.method(made.module, given)
    try:
        recorded = samples.record(method).samples
    except Exception as error:
        raise StepError("inputs", error) from error
    with torch.no_grad():
        first, again = (list(made.module(*(one.clone() for one in given))) for _ in range(2))
    if lowering.least_snr(first, again) is not None:
        raise StepError("inputs", ValueError("eager PyTorch gives other outputs each time"))
    times = _times(made.module, given) if is_timed else []
    program = lowering.export(method, recorded)
    of_program = samples.serialize({method.name: recorded})
    exported = _Exported(method, program, given, first, of_program, len(times))
    return exported, statistics.median(times) if times else None


def _times(module: torch.nn.Module, given: Sequence[torch.Tensor]) -> list[float]:
    """Returns the seconds of eager inferences on one thread."""
    times: list[float] = []
    with torch.no_grad():
        while len(times) < _TIMES and sum(times) < _SECONDS:
            start = time.perf_counter()
            module(*given)
            times.append(time.perf_counter() - start)
    return times


def _lowered(exported: _Exported, names: Sequence[str], kernels: Kernels) -> Lowered:
    lowered = Lowered()
    try:
        program = lowering.lower(exported.method, exported.program, names)
        lowered = dataclasses.replace(lowered, changes=program.changes, left_out=program.left_out)
        lowered = dataclasses.replace(lowered, snr=lowering.least_snr(exported.expected, program.run(exported.given)))
        pte = program.emit()
    except StepError as error:
        return dataclasses.replace(lowered, problem=error.problem)
    missing = tuple(sorted(set(lowering.operators(pte)) - set(kernels.provided)))
    lowered = dataclasses.replace(lowered, missing=missing)
    if kernels.runner is None or missing:
        return lowered
    ran = runner.run(kernels.runner, pte, exported.samples, max(exported.iterations, 1))
    return dataclasses.replace(lowered, seconds=ran.seconds, runner=ran.problem)
