"""The goals of the benchmark, with the measured values."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tools.bench.peers.results import Results

# Goals for two threads are for models that take longer than this, in seconds.
_LONG = 0.02
# The goals of the ratio of the best peer's time to ours, by instruction set: the geometric mean, and each model's.
_BEST_PEER = {
    "avx2": (1.0, 0.85),
    "avx512": (1.05, 0.95),
    "avx512_bf16": (1.05, 0.95),
}
# The reasons why operators are below the peak.
_WAITS_FOR = {
    "op_add": "the runner copies inputs and outputs around each run, so few of their bytes are in the caches",
    "op_exp": "limited by arithmetic: 13 instructions for each vector",
    "op_softmax": "limited by arithmetic: with AVX2, exponentials take 20 instructions for each vector",
}


@dataclass(frozen=True)
class Goal:
    """A lower bound of a figure.

    Attributes:
        name: the name of the figure.
        least: the lower bound.
        value: the measured figure; None if not measured.
        at: the model of the figure; empty if the figure is for several models.
        percent: whether the figure is a share. If false, the figure is a ratio.
        waits_for: the known reason for a missed goal.
    """

    name: str
    least: float
    value: float | None
    at: str = ""
    percent: bool = False
    waits_for: str = ""

    @property
    def met(self) -> bool:
        return self.value is not None and self.value >= self.least

    def text(self) -> str:
        """Returns one line with the goal and the measured value."""
        write: Callable[[float], str] = (lambda x: f"{x:.0%}") if self.percent else (lambda x: f"{x:.2f}")
        if self.value is None:
            return f"{self.name}, at least {write(self.least)}: not measured"
        value = write(self.value) + (f" (`{self.at}`)" if self.at else "")
        if self.met:
            return f"{self.name}, at least {write(self.least)}: met, {value}"
        missed = f"{self.name}, at least {write(self.least)}: **missed by {1 - self.value / self.least:.0%}**, {value}"
        return f"{missed}: {self.waits_for}" if self.waits_for else missed


def ratios(results: Results, ours: str, others: Sequence[str], threads: int) -> dict[str, float]:
    """Returns, for each model, the ratio of the time of the fastest of the others to ours."""
    found = {}
    for model, row in results.items():
        mine = row[ours].median(threads) if ours in row else None
        times = [time for name in others if name in row and (time := row[name].median(threads)) is not None]
        if mine is not None and times:
            found[model] = min(times) / mine
    return found


def _mean_and_least(name: str, found: Mapping[str, float], mean: float, least: float | None) -> list[Goal]:
    goals = [Goal(f"{name}: geometric mean", mean, statistics.geometric_mean(found.values()) if found else None)]
    if least is not None:
        worst = min(found, key=lambda model: found[model], default="")
        goals.append(Goal(f"{name}: every model", least, found.get(worst), worst))
    return goals


def of_models(results: Results, ours: str, peers: Sequence[str], instruction_set: str) -> list[Goal]:
    """Returns the goals of whole models.

    Args:
        results: the results of models only, without operators.
        ours: the column with the goals.
        peers: the columns of other projects' kernels. Missing columns have no goals.
        instruction_set: the instruction set of the run.
    """
    goals = []
    for threads, title in ((1, "one thread"), (2, "two threads")):
        if peers and instruction_set in _BEST_PEER:
            best = ratios(results, ours, peers, threads)
            goals += _mean_and_least(f"The best peer / ours, {title}", best, *_BEST_PEER[instruction_set])
        if "eager" in peers:
            eager = ratios(results, ours, ["eager"], threads)
            goals += _mean_and_least(f"PyTorch eager / ours, {title}", eager, 1.5, 1.0)
    speedups = {}
    for model, row in results.items():
        one, two = (row[ours].median(threads) for threads in (1, 2)) if ours in row else (None, None)
        if one is not None and one > _LONG:
            speedups[model] = one / two if two is not None else 1.0
    worst = min(speedups, key=lambda model: speedups[model], default="")
    goals.append(
        Goal(f"Ours, one thread / two threads: every model above {_LONG * 1e3:.0f} ms", 1.7, speedups.get(worst), worst)
    )
    return goals


def of_starts(results: Results, ours: str, peers: Sequence[str]) -> list[Goal]:
    """Returns the goal of load and first inference, of models that have the cost in our column.

    Args:
        results: the results of models only, without operators.
        ours: the column with the goal.
        peers: the columns of other projects' kernels.
    """
    found = {}
    for model, row in results.items():
        mine = row[ours].cost if ours in row else None
        starts = [cost.start for name in peers if name in row and (cost := row[name].cost)]
        if mine is not None and starts:
            found[model] = min(starts) / mine.start
    if not found:
        return []
    worst = min(found, key=lambda model: found[model])
    return [
        Goal(
            f"The best peer / ours with `--load=mmap`, load and first inference: every of {len(found)} models",
            2.0,
            found[worst],
            worst,
        )
    ]


def of_operators(
    shares: Mapping[str, float | None], least: Mapping[str, float], titles: Mapping[str, str]
) -> list[Goal]:
    """Returns the goals of operators: the share of the machine's peak."""
    return [
        Goal(
            f"{titles[name]}: share of the machine's peak",
            least[name],
            share,
            percent=True,
            waits_for=_WAITS_FOR.get(name, ""),
        )
        for name, share in shares.items()
    ]
