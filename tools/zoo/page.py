"""Writes the page docs/zoo.md from the results."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from importlib import metadata

from kernels.testing import processor
from tools.bench import report
from tools.zoo.results import EQUAL, NOT_REACHED, PASSES, Lowered, Results, Row

_PACKAGES = ("transformers", "torch", "executorch")


class Verdict(Enum):
    """The outcome of a model. The value is the text on the page."""

    NOT_MADE = "transformers cannot create or run the model"
    NOT_EXPORTED = "`torch.export` fails"
    NOT_LOWERED = "ExecuTorch's lowering fails, also without graph passes"
    NO_TIME = "timeout"
    LOWERED = "lowered"


def verdict(row: Row) -> Verdict:
    """Returns the outcome of a model."""
    problems = [row.problem, *(one.problem for one in row.lowered.values())]
    if any(problem and problem.message.startswith("took more than") for problem in problems):
        return Verdict.NO_TIME
    if row.problem:
        return Verdict.NOT_EXPORTED if row.problem.step == "torch.export" else Verdict.NOT_MADE
    without = row.lowered.get("none")
    return Verdict.NOT_LOWERED if without and without.problem else Verdict.LOWERED


def is_ours(row: Row, name: str) -> bool:
    """Returns whether a model is correct without graph passes, and fails or has wrong outputs with a set of passes."""
    one, without = row.lowered.get(name, NOT_REACHED), row.lowered.get("none")
    if verdict(row) is not Verdict.LOWERED or one.is_equal:
        return False
    return without is None or without.is_equal


def summary(row: Row) -> str:
    """Returns a row as one line."""
    if row.problem:
        return f"{row.problem.step}: {row.problem.message}"
    return f"{row.parameters / 1e6:.1f}M, " + "; ".join(f"{name}: {_said(one)}" for name, one in row.lowered.items())


def _said(one: Lowered) -> str:
    parts = [f"{one.problem.step}: {one.problem.message}" if one.problem else _equality(one)]
    parts += [f"without kernels: {' '.join(one.missing)}"] if one.missing else []
    parts += [f"left out: {what}" for what in one.left_out]
    parts += [f"the runner: {one.runner}"] if one.runner else []
    return ", ".join(parts)


def _equality(one: Lowered) -> str:
    if one.snr is None:
        return "equal"
    return f"equal, {one.snr:.0f} dB" if one.snr >= EQUAL else f"**differs, {one.snr:.0f} dB**"


def counts(found: Results) -> Mapping[str, int]:
    """Returns the number of models for each outcome."""
    rows = list(found.values())
    lowered = [row for row in rows if verdict(row) is Verdict.LOWERED]

    equal = {name: [row for row in lowered if row.lowered.get(name, NOT_REACHED).is_equal] for name in PASSES}
    refused = [row for row in lowered if "none" in row.lowered and not row.lowered["none"].is_equal]
    left_out = [row for row in lowered if any(one.left_out for one in row.lowered.values())]
    missing = [row for row in lowered if any(one.missing for one in row.lowered.values())]
    return {
        "models": len(rows),
        **{one.value: sum(verdict(row) is one for row in rows) for one in Verdict if one is not Verdict.LOWERED},
        "lowered": len(lowered),
        **{f"equal to eager, `{name}` passes": len(those) for name, those in equal.items()},
        "not equal, also without graph passes": len(refused),
        "a graph pass failed at a call": len(left_out),
        "operators without a kernel": len(missing),
    }


def text(found: Results, known: int) -> str:
    """Returns the text of the page.

    Args:
        found: the rows.
        known: the number of all models.
    """
    parts = [
        "# Architectures of transformers",
        "The command exports every architecture of transformers whose config and weights can be created on a CPU,"
        " lowers the program with the graph passes `default` and `all`, and compares the outputs with eager PyTorch."
        " Models are reduced to few layers, few words, narrow widths and small images, with random weights from a"
        " seed. `+cache` decodes one word with a static cache, as transformers exports decoders for ExecuTorch.",
        "    tools/bazel run //tools/zoo",
        f"Made with {', '.join(f'{name} {metadata.version(name)}' for name in _PACKAGES)}, on {_machine()}.",
        f"{len(found)} of {known} models have results.",
        "The command keeps earlier results; `-- --models=PATTERN --again` repeats some models.",
        report.table(["", "models"], [list(one) for one in counts(found).items()]),
        "## Lowered",
        "Outputs are equal if the signal-to-noise ratio is at least 80 dB, which is a relative difference of 1e-4 in"
        " the root mean square. Integers must be identical. PyTorch runs the graphs, with the operators' definitions"
        " in place of kernels. If a row has times, the runner also ran the program with the kernels, on one thread. A"
        " time is the median of up to 100 inferences within a second. Eager PyTorch and the programs run one after"
        " another, so other load of the machine affects the times.",
        *_sections(found),
        *_refused(found),
    ]
    return "\n\n".join(parts) + "\n"


def _machine() -> str:
    widest, *_ = processor.instruction_sets()
    return f"{os.cpu_count()} processors ({report.processor()}, {widest})"


def _sections(found: Results) -> Iterator[str]:
    lowered = {name: row for name, row in found.items() if verdict(row) is Verdict.LOWERED}
    for kind in sorted({row.kind for row in lowered.values()}):
        yield f"### {kind.capitalize()}"
        yield report.table(
            ["architecture", "class", "inputs", "parameters", *(f"`{name}`" for name in PASSES), "eager, ms"]
            + [f"`{name}`, ms" for name in PASSES],
            [_cells(name, row) for name, row in sorted(lowered.items()) if row.kind == kind],
        )


def _cells(name: str, row: Row) -> Sequence[object]:
    return [
        f"`{name}`",
        f"`{row.model}`",
        row.inputs,
        f"{row.parameters:,}",
        *(_said(row.lowered.get(one, NOT_REACHED)) for one in PASSES),
        _milliseconds(row.eager),
        *(_milliseconds(row.lowered.get(one, NOT_REACHED).seconds) for one in PASSES),
    ]


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.3g}"


def _refused(found: Results) -> Iterator[str]:
    for one in Verdict:
        rows = {name: row for name, row in sorted(found.items()) if verdict(row) is one}
        if rows and one is not Verdict.LOWERED:
            yield f"## {one.value[0].upper()}{one.value[1:]}"
            table = [[f"`{name}`", f"`{row.model}`", f"`{_message(row)}`"] for name, row in rows.items()]
            yield report.table(["architecture", "class", "message"], table)


def _message(row: Row) -> str:
    problems = [row.problem, *(one.problem for one in row.lowered.values())]
    return next(problem.message for problem in problems if problem).replace("`", "'")
