"""The results: a cell for each model and column, stored in a file so that an interrupted run can continue."""

from __future__ import annotations

import dataclasses
import json
import os
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """The costs of a model besides the time of an inference.

    Attributes:
        start: the seconds to load, and of the first inference.
        peak: the peak memory in bytes, up to the end of the first inference.
        code: the bytes of the runner and of the libraries that it loads.
    """

    start: float
    peak: int
    code: int


@dataclass(frozen=True)
class Cell:
    """A model in a column.

    Attributes:
        cost: the costs; None if the model does not run.
        seconds: the seconds of an inference in each turn, by the number of threads.
        missing: the reason for a missing time.
    """

    cost: Cost | None = None
    seconds: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    missing: str = ""

    def median(self, threads: int) -> float | None:
        """Returns the median seconds of an inference; None without turns."""
        turns = self.seconds.get(threads)
        return statistics.median(turns) if turns else None

    def with_turn(self, threads: int, seconds: float) -> Cell:
        """Returns the cell with one more turn."""
        return dataclasses.replace(self, seconds={**self.seconds, threads: (*self.seconds.get(threads, ()), seconds)})


# The cells by the name of the model, then by the name of the column.
Results = dict[str, dict[str, Cell]]


def save(results: Results, file: Path) -> None:
    """Writes the results atomically, so that an interruption leaves either the old or the new file."""
    content = {model: {name: dataclasses.asdict(cell) for name, cell in row.items()} for model, row in results.items()}
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(content, indent=1) + "\n")
    os.replace(draft, file)


def load(file: Path) -> Results:
    """Reads the file that save() wrote; empty if there is no file."""
    if not file.exists():
        return {}
    return {
        model: {
            name: Cell(
                Cost(**cell["cost"]) if cell["cost"] else None,
                {int(threads): tuple(turns) for threads, turns in cell["seconds"].items()},
                cell["missing"],
            )
            for name, cell in row.items()
        }
        for model, row in json.loads(file.read_text()).items()
    }
