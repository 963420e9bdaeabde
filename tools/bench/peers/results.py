"""What was measured: a cell for each model and column, kept in a file that survives an interruption."""

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
    """What running a model takes besides the time of an inference.

    Attributes:
        start: seconds to load, and of the first inference.
        peak: bytes of memory at their highest, up to the end of the first inference.
        code: bytes of the runner and of the libraries that it loads.
    """

    start: float
    peak: int
    code: int


@dataclass(frozen=True)
class Cell:
    """A model in a column.

    Attributes:
        cost: None if the model does not run.
        seconds: by the number of threads: the seconds of an inference in each turn.
        missing: why there is no time.
    """

    cost: Cost | None = None
    seconds: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    missing: str = ""

    def median(self, threads: int) -> float | None:
        """The seconds of an inference."""
        turns = self.seconds.get(threads)
        return statistics.median(turns) if turns else None

    def with_turn(self, threads: int, seconds: float) -> Cell:
        """The cell with one more turn."""
        return dataclasses.replace(self, seconds={**self.seconds, threads: (*self.seconds.get(threads, ()), seconds)})


# By the name of the model, then by that of the column.
Results = dict[str, dict[str, Cell]]


def save(results: Results, file: Path) -> None:
    """Writes the results in one step, so that an interruption leaves the old ones or the new ones."""
    content = {model: {name: dataclasses.asdict(cell) for name, cell in row.items()} for model, row in results.items()}
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(content, indent=1) + "\n")
    os.replace(draft, file)


def load(file: Path) -> Results:
    """Reads what save() wrote; empty if there is no such file."""
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
