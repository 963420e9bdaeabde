"""What was found of each model: a row, kept in a file that survives an interruption."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# The sets of graph passes that each model is lowered with, by the names of the columns.
PASSES: Mapping[str, tuple[str, ...]] = {"default": ("default",), "all": ("all",)}
# Outputs are equal if they are so many decibels stronger than what differs: a relative difference of 1e-4.
EQUAL = 80


@dataclass(frozen=True)
class Problem:
    """Where a model ends.

    Attributes:
        step: `config`, `inputs`, `torch.export`, `lowering`, `emit` or `run`.
        message: what was said, in one line.
    """

    step: str
    message: str


@dataclass(frozen=True)
class Lowered:
    """A model after some graph passes.

    Attributes:
        problem: what ended it; None if the program was made and ran.
        changes: how many changes the passes made.
        left_out: what passes left out because they raised: the pass and what it raised.
        missing: operators that the program calls and no kernel is for.
        snr: of the output that differs most from eager PyTorch's, in decibels, the graph run by PyTorch; None if all
            are the same bit by bit.
        seconds: of an inference by the kernels, in the runner.
        runner: how the runner's outputs differ; empty if they do not, or if it did not run.
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
        """Whether the outputs are those of eager PyTorch, up to rounding."""
        return self.problem is None and not self.runner and (self.snr is None or self.snr >= EQUAL)


# Of passes that a process never came to, which ended before.
NOT_REACHED = Lowered(Problem("lowering", "not reached"))


@dataclass(frozen=True)
class Row:
    """A model.

    Attributes:
        kind: what it is for.
        model: its class.
        inputs: what it takes.
        parameters: how many numbers it has.
        problem: why it was not lowered; None if it was.
        eager: seconds of an inference in eager PyTorch, on one thread.
        lowered: by the set of passes.
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
    """The row of a process that was ended: the step that had begun has the problem."""
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
    """Writes the results in one step, so that an interruption leaves the old ones or the new ones."""
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps({name: dataclasses.asdict(row) for name, row in results.items()}, indent=1) + "\n")
    os.replace(draft, file)


def load(file: Path) -> Results:
    """Reads what save() wrote; empty if there is no such file."""
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
