"""The results: a row for each model, stored in a file so that an interrupted run can continue."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# The sets of graph passes for each model, by the names of the columns.
PASSES: Mapping[str, tuple[str, ...]] = {"default": ("default",), "all": ("all",)}
# Outputs count as equal from this signal-to-noise ratio in decibels: a relative difference of 1e-4.
EQUAL = 80


@dataclass(frozen=True)
class Problem:
    """The problem of a model.

    Attributes:
        step: the failed step: `config`, `inputs`, `torch.export`, `lowering`, `emit` or `run`.
        message: the message, in one line.
    """

    step: str
    message: str


@dataclass(frozen=True)
class Lowered:
    """A model after some graph passes.

    Attributes:
        problem: the problem; None if the program was made and ran.
        changes: the number of changes of the passes.
        left_out: the passes that raised, with their exceptions.
        missing: called operators without a kernel.
        snr: the lowest signal-to-noise ratio of the outputs to eager PyTorch's, in decibels, if PyTorch runs the graph;
            None if all outputs are equal bit by bit.
        seconds: the seconds of an inference with the kernels, in the runner.
        runner: the difference of the runner's outputs; empty if there is none, or if the runner did not run.
    """

    problem: Problem | None = None
    changes: int = 0
    left_out: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    snr: float | None = None
    seconds: float | None = None
    runner: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether the outputs equal those of eager PyTorch, up to rounding."""
        return self.problem is None and not self.runner and (self.snr is None or self.snr >= EQUAL)


# The result for a set of passes that a process did not reach.
NOT_REACHED = Lowered(Problem("lowering", "not reached"))


@dataclass(frozen=True)
class Row:
    """A model.

    Attributes:
        kind: the kind of the model.
        model: the class of the model.
        inputs: the inputs.
        parameters: the number of weights.
        problem: the problem before the lowering; None if there is none.
        eager: the seconds of an inference in eager PyTorch, on one thread.
        lowered: the results by the set of passes.
    """

    kind: str
    model: str
    inputs: str = ""
    parameters: int = 0
    problem: Problem | None = None
    eager: float | None = None
    lowered: Mapping[str, Lowered] = field(default_factory=dict)


Results = dict[str, Row]
# The message of a step that has begun.
BEGUN = "did not end"


def ended(row: Row, problem: str) -> Row:
    """Returns the row of a process that was ended. The begun step gets the problem."""
    if row.problem:
        return dataclasses.replace(row, problem=dataclasses.replace(row.problem, message=problem))
    lowered = {
        name: dataclasses.replace(one, problem=dataclasses.replace(one.problem, message=problem))
        if one.problem and one.problem.message == BEGUN
        else one
        for name, one in row.lowered.items()
    }
    return dataclasses.replace(row, lowered=lowered)


def save(results: Results, file: Path) -> None:
    """Writes the results atomically, so that an interruption leaves either the old or the new file."""
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps({name: dataclasses.asdict(row) for name, row in results.items()}, indent=1) + "\n")
    os.replace(draft, file)


def load(file: Path) -> Results:
    """Reads the file that save() wrote; empty if there is no file."""
    if not file.exists():
        return {}
    return {name: _row(**row) for name, row in json.loads(file.read_text()).items()}


def _row(*, problem: dict[str, str] | None, lowered: dict[str, dict[str, Any]], **others: object) -> Row:
    return Row(
        **others,  # type: ignore[arg-type]
        problem=Problem(**problem) if problem else None,
        lowered={name: _lowered(**one) for name, one in lowered.items()},
    )


def _lowered(*, problem: dict[str, str] | None, left_out: list[str], missing: list[str], **others: object) -> Lowered:
    return Lowered(
        **others,  # type: ignore[arg-type]
        problem=Problem(**problem) if problem else None,
        left_out=tuple(left_out),
        missing=tuple(missing),
    )
