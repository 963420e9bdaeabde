"""The results: a cell for each model and column, stored with the machine and the commit that they were measured on."""

from __future__ import annotations

import dataclasses
import json
import os
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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


@dataclass(frozen=True)
class Peak:
    """A machine's peak on one thread.

    Attributes:
        gflops: billions of float32 operations per second.
        copies: sizes of copies in MB, each with the billions of bytes per second that the copy reads and writes.
    """

    gflops: float
    copies: tuple[tuple[int, float], ...]

    def copy_of(self, gigabytes: float) -> float:
        """Returns the bandwidth of a copy of about the same size, which has the same share of bytes in caches."""
        megabytes = gigabytes * 1e9 / 2**20
        return min(self.copies, key=lambda copy: abs(copy[0] - megabytes))[1]


@dataclass(frozen=True)
class Run:
    """The run that measured a row.

    Attributes:
        commit: the commit of this repository; with "-dirty" if files outside of docs had changes.
        day: the day, as YYYY-MM-DD.
        processor: the name of the processor.
        processors: the number of processors.
        kernels: the instruction sets of the compiled kernels.
    """

    commit: str
    day: str
    processor: str
    processors: int
    kernels: str


@dataclass(frozen=True)
class Row:
    """A measured model: the run that measured all its columns, the machine's peak in that run, and the columns."""

    run: Run
    peak: Peak
    cells: dict[str, Cell]


def save(rows: Mapping[str, Row], file: Path) -> None:
    """Writes rows atomically, so that an interruption leaves either the old or the new file.

    The file has all turns, each with four digits of its seconds.
    """
    content = {name: dataclasses.asdict(_rounded(row)) for name, row in sorted(rows.items())}
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in content.items()]
    draft = file.with_suffix(".draft")
    draft.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    os.replace(draft, file)


def _rounded(row: Row) -> Row:
    cells = {}
    for column, cell in row.cells.items():
        seconds = {threads: tuple(float(f"{turn:.4g}") for turn in turns) for threads, turns in cell.seconds.items()}
        cells[column] = dataclasses.replace(cell, seconds=seconds)
    return dataclasses.replace(row, cells=cells)


def load(file: Path) -> dict[str, Row]:
    """Reads the file that save() wrote; empty if there is no file."""
    if not file.exists():
        return {}
    return {
        name: Row(Run(**row["run"]), _peak(row["peak"]), _cells(row["cells"]))
        for name, row in json.loads(file.read_text()).items()
    }


def _peak(content: dict[str, Any]) -> Peak:
    return Peak(content["gflops"], tuple((size, rate) for size, rate in content["copies"]))


def _cells(content: dict[str, Any]) -> dict[str, Cell]:
    return {
        name: Cell(
            Cost(**cell["cost"]) if cell["cost"] else None,
            {int(threads): tuple(turns) for threads, turns in cell["seconds"].items()},
            cell["missing"],
        )
        for name, cell in content.items()
    }
