"""Writes the results for docs/benchmarks.md: tables, notes, goals, and a plot."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tools.bench import report
from tools.bench.peers.goals import Goal, ratios
from tools.bench.peers.results import Cell, Cost, Peak, Results, Row, Run

_NONE = "-"
# Marks a time on two threads that is more than this share of the time on one thread.
_MARK = "†"
_SHARE = 0.8
# The least time on one thread, in seconds, for a mark.
_LONG = 0.01


# The names of instructions in the output of machine_peak.
_INSTRUCTIONS = {"avx2": "AVX2 and FMA", "avx512": "AVX-512", "avx512_bf16": "AVX-512"}


def read_peak(printed: str, instruction_set: str) -> Peak:
    """Parses the output of machine_peak for an instruction set, and for copies."""
    gflops = dict(re.findall(r"^(.*?) +([\d.]+) GFLOP/s$", printed, re.M))
    copies = re.findall(r"^copy of +(\d+) MB +([\d.]+) GB/s", printed, re.M)
    return Peak(
        float(gflops[_INSTRUCTIONS.get(instruction_set, "baseline")]),
        tuple((2 * int(megabytes), float(rate)) for megabytes, rate in copies),
    )


def share(work: Mapping[str, float], seconds: float, peak: Peak) -> float:
    """Returns the share of the machine's peak that an operator reaches."""
    if "gflop" in work:
        return work["gflop"] / seconds / peak.gflops
    return work["gigabytes"] / seconds / peak.copy_of(work["gigabytes"])


def _milliseconds(seconds: float) -> str:
    milliseconds = seconds * 1e3
    return f"{milliseconds:,.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def _is_marked(cell: Cell) -> bool:
    """Returns whether two threads are hardly faster than one."""
    one, two = (cell.median(threads) for threads in (1, 2))
    return one is not None and two is not None and one > _LONG and two > _SHARE * one


def _times(row: Mapping[str, Cell], columns: Sequence[str], threads: int) -> list[str]:
    medians = {name: row[name].median(threads) if name in row else None for name in columns}
    least = min((time for time in medians.values() if time is not None), default=None)
    cells = []
    for name, time in medians.items():
        text = _NONE if time is None else _milliseconds(time)
        text = f"**{text}**" if time is not None and time == least else text
        cells.append(f"{text} {_MARK}" if threads == 2 and name in row and _is_marked(row[name]) else text)
    return cells


def _costs(row: Mapping[str, Cell], columns: Sequence[str], write: Callable[[Cost], str]) -> list[str]:
    costs = [row[name].cost if name in row else None for name in columns]
    return [write(cost) if cost else _NONE for cost in costs]


def models(
    results: Results, titles: Mapping[str, str], columns: Mapping[str, str], ours: str, peers: Sequence[str]
) -> str:
    """Returns the tables of times, one for each number of threads, with a row a model and a column a contestant.

    Args:
        results: the results of models only, without operators.
        titles: the titles of the models, in order.
        columns: the title of each column.
        ours: the column with the goals.
        peers: the columns to compare with.
    """
    rows = {title: results[model] for model, title in titles.items() if model in results}
    tables = []
    for threads, heading in ((1, "One thread, ms"), (2, "Two threads, ms")):
        best = ratios(results, ours, peers, threads)
        ratio_of = {titles[model]: f"{ratio:.2f}" for model, ratio in best.items()}
        times = [
            [title, *_times(row, list(columns), threads), ratio_of.get(title, _NONE)] for title, row in rows.items()
        ]
        tables.append((heading, ["model", *columns.values(), f"best peer / {columns[ours]}"], times))
    return _sections(tables)


def costs(results: Results, titles: Mapping[str, str], columns: Mapping[str, str]) -> str:
    """Returns the tables of costs, with the rows and columns of the tables of times, and columns without times."""
    rows = {title: results[model] for model, title in titles.items() if model in results}
    writers: dict[str, Callable[[Cost], str]] = {
        "Load and first inference, ms": lambda cost: _milliseconds(cost.start),
        "Peak memory, MB": lambda cost: f"{cost.peak / 1e6:,.0f}",
        "Code, KB": lambda cost: f"{cost.code / 1e3:,.0f}",
    }
    tables = []
    for heading, write in writers.items():
        cells = [[title, *_costs(row, list(columns), write)] for title, row in rows.items()]
        tables.append((heading, ["model", *columns.values()], cells))
    return _sections(tables)


def _sections(tables: Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]) -> str:
    return "\n\n".join(f"### {heading}\n\n{report.table(header, cells)}" for heading, header, cells in tables)


def operators(
    measured: Mapping[str, Row], titles: Mapping[str, str], columns: Mapping[str, str], work: Mapping[str, Any]
) -> str:
    """Returns the table of the operators: times, and shares of the machine's peak, on one thread."""
    rows = []
    for name, title in titles.items():
        if name not in measured:
            continue
        cells = [measured[name].cells.get(column, Cell()).median(1) for column in columns]
        peak = measured[name].peak
        shares = [f"{share(work[name], time, peak):.0%}" if time else _NONE for time in cells]
        times = [_milliseconds(time) if time else _NONE for time in cells]
        rows.append([title, *times, *shares, f"{work[name]['goal']:.0%}"])
    heads = [f"{title}, ms" for title in columns.values()] + [f"{title}, of peak" for title in columns.values()]
    return report.table(["operator", *heads, "goal"], rows)


def runs(measured: Mapping[str, Row], titles: Mapping[str, str]) -> str:
    """Returns the runs that measured the rows, a line for each commit, day and machine, the newest first.

    A line has the least and the highest of the machine's peaks.
    """
    rows_of: dict[Run, list[str]] = {}
    for name in titles:
        if name in measured:
            rows_of.setdefault(measured[name].run, []).append(name)
    lines = []
    for run, names in sorted(rows_of.items(), key=lambda item: item[0].day, reverse=True):
        rows = "all rows" if len(names) == len(titles) else "; ".join(titles[name] for name in names)
        lines.append(
            f"- {run.day}, commit `{run.commit}`, {run.processors} processors ({run.processor}), kernels for"
            f" {run.kernels.replace(',', ', ')}: {rows}. {_peaks([measured[name].peak for name in names])}"
        )
    return "\n".join(lines)


def _peaks(peaks: Sequence[Peak]) -> str:
    """Returns the sentence about a machine's peaks."""

    def between(values: Sequence[float]) -> str:
        return " to ".join(dict.fromkeys(f"{value:.1f}" for value in (min(values), max(values))))

    copies = [
        f"{between([dict(peak.copies)[size] for peak in peaks])} GB/s for {size} MB" for size, _ in peaks[0].copies
    ]
    return f"The peak of float32 is {between([peak.gflops for peak in peaks])} GFLOP/s, of copies {', '.join(copies)}."


def spread(results: Results) -> str:
    """Returns the sentence about how much the turns of a time differ; empty if no time has several turns."""
    found = []
    for row in results.values():
        for cell in row.values():
            for threads, turns in cell.seconds.items():
                time = cell.median(threads)
                if time and len(turns) > 1:
                    found.append(statistics.median(abs(turn / time - 1) for turn in turns))
    if not found:
        return ""
    return (
        f"Half of the turns of a time differ from the time by at most {statistics.median(found):.1%} in the median of"
        f" all times, and by at most {max(found):.1%} in each."
    )


def marks(
    results: Results,
    titles: Mapping[str, str],
    columns: Mapping[str, str],
    reasons: Mapping[tuple[str, str], str],
) -> str:
    """Returns the marked times, a line for each column and reason; empty without marks.

    Args:
        results: the results of models only, without operators.
        titles: the titles of the models, in order.
        columns: the title of each column.
        reasons: the known reasons, by column and model, or by column and "" for all models.
    """
    models_of: dict[tuple[str, str], list[str]] = {}
    for name, column in columns.items():
        for model, title in titles.items():
            if _is_marked(results.get(model, {}).get(name, Cell())):
                reason = reasons.get((name, model)) or reasons.get((name, "")) or "the reason is not known"
                models_of.setdefault((column, reason), []).append(title)
    lines = [f"- {column}, {'; '.join(found)}: {reason}" for (column, reason), found in models_of.items()]
    head = (
        f"{_MARK}: two threads take more than {_SHARE:.0%} of the time of one thread, which is more than"
        f" {_LONG * 1e3:.0f} ms:"
    )
    return "\n".join([head, "", *lines]) if lines else ""


def notes(results: Results, titles: Mapping[str, str], columns: Mapping[str, str]) -> str:
    """Returns the reasons for empty cells, one a line."""
    models_of: dict[tuple[str, str], list[str]] = {}
    for model, title in titles.items():
        for column in columns:
            cell = results.get(model, {}).get(column)
            if cell and cell.missing:
                models_of.setdefault((column, cell.missing), []).append(title)
    lines = []
    for (column, reason), found in models_of.items():
        everything = len(found) == sum(column in results.get(model, {}) for model in titles)
        lines.append(f"- {columns[column]}, {'everything' if everything else '; '.join(found)}: {reason}")
    return "\n".join(lines)


def goals(found: Sequence[Goal]) -> str:
    return "\n".join(f"- {goal.text()}" for goal in found)


def shows(
    results: Results, titles: Mapping[str, str], columns: Mapping[str, str], ours: str, peers: Sequence[str]
) -> str:
    """Returns the alternative text of the plot."""
    of_models = {model: results[model] for model in titles if model in results}
    best, eager = ratios(of_models, ours, peers, 1), ratios(of_models, ours, ["eager"], 1)
    if not best or not eager:
        return "Speed on one thread, by model."
    slower = [f"{titles[model]} ({ratio:.2f})" for model, ratio in best.items() if ratio < 1]
    return (
        f"Speed on one thread, by model: {columns[ours]} is the fastest in {len(best) - len(slower)} of {len(best)}"
        f" models{', not in ' + ' and '.join(slower) if slower else ''}; in geometric mean the best peer takes"
        f" {statistics.geometric_mean(best.values()):.2f} of its time, PyTorch eager"
        f" {statistics.geometric_mean(eager.values()):.2f}."
    )


def plot(
    results: Results, titles: Mapping[str, str], columns: Mapping[str, str], ours: str, peers: Sequence[str]
) -> str:
    """Returns an SVG with the speed of each column relative to PyTorch eager, by model, on one thread."""
    groups: dict[str, dict[str, float]] = {}
    for model, title in titles.items():
        row = results.get(model, {})
        eager = row["eager"].median(1) if "eager" in row else None
        if eager is None:
            continue
        times = {column: row[name].median(1) for name, column in columns.items() if name in row}
        groups[title] = {column.replace("`", ""): eager / time for column, time in times.items() if time is not None}
    return report.dots("Speed on one thread; PyTorch eager is 1", groups, shows(results, titles, columns, ours, peers))
