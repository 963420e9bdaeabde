"""A comparison with eager PyTorch: the instructions of a method, sorted by how much of the signal they lose."""

from __future__ import annotations

import itertools
import json
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from profiles.calls import Call
from profiles.profile_data import Frame, Origin

# In decibels: the signal-to-noise ratio of equal tensors, which is above that of rounding in float32; and the ratio of
# tensors with nothing in common.
BEST = 150.0
WORST = -50.0
# How many decibels a result may be below the ratio that its inputs and its quantization explain. With 6, the noise is
# twice as large: the quantized weights of a convolution, which have no row, cost less.
_UNEXPLAINED = 6.0


@dataclass(frozen=True)
class Row:
    """An instruction of the method.

    Attributes:
        number: of the instruction.
        operator: the operator, or the backend.
        module: the path of the module in the model; empty if unknown.
        line: the line of Python; None if unknown.
        tensors: the results as texts: `float32 [1, 3]`.
        eager: the names of the nodes of torch.export's graph that the results are compared with.
        graph_pass: the graph pass that inserted or changed the instruction last; empty for none.
        sample: the sample in which the instruction loses most.
        iteration: the iteration of the loop in which the instruction loses most; None outside of loops.
        snr: the signal-to-noise ratio in decibels against eager PyTorch; None if there is no value to compare with.
        drop: how much less that is than the least ratio of the inputs.
        max_difference: the largest difference.
        is_close: whether the difference is within the runner's tolerance for the dtype, or explained by the inputs and
            the quantization of the result.
        why: the reason why the results are not compared; empty if they are.
    """

    number: int
    operator: str
    module: str
    line: Frame | None
    tensors: tuple[str, ...]
    eager: tuple[str, ...]
    graph_pass: str
    sample: int = 0
    iteration: int | None = None
    snr: float | None = None
    drop: float = 0.0
    max_difference: float = 0.0
    is_close: bool = True
    why: str = ""


def rows(
    compared: str,
    nodes: Mapping[str, Any],
    origin_of: Mapping[int, Origin],
    call_of: Mapping[int, Call],
    *,
    is_complete: bool,
) -> list[Row]:
    """Returns the instructions: first those with the largest drop of the ratio; of equal drops, the first.

    Args:
        compared: the lines of JSON that the runner wrote.
        nodes: the instructions by number, out of the file that the export wrote.
        origin_of: the origins of instructions by number.
        call_of: the calls of instructions by number.
        is_complete: whether the export wrote all eager values.
    """
    results = [json.loads(line) for line in compared.splitlines()]
    found: dict[int, Row] = {}
    for text, node in nodes.items():
        number = int(text)
        origin, call = origin_of.get(number), call_of.get(number)
        module, frame = _place(origin)
        name = call.name if call else origin.operator if origin else "?"
        eager = tuple(dict.fromkeys(filter(None, node["eager"])))
        row = Row(number, name, module, frame, call.outputs if call else (), eager, node["pass"])
        found[number] = replace(row, why=_why(node, is_complete=is_complete))
    for _, of_sample in itertools.groupby(results, operator.itemgetter("sample")):
        for row in _of_sample(of_sample, nodes, found):
            if found[row.number].snr is None or row.drop > found[row.number].drop:
                found[row.number] = row
    return sorted(found.values(), key=lambda row: (row.snr is None, -round(row.drop, 1), row.number))


def _why(node: Mapping[str, Any], *, is_complete: bool) -> str:
    if node["is_deep"]:
        return "in a branch or a loop inside of a loop"
    if not any(node["eager"]):
        return "no node of torch.export's graph has this value"
    reasons = ["the value has another shape"]
    if node["is_nested"]:
        reasons.append("no sample takes the branch, or PyTorch takes another")
    if not is_complete:
        reasons.append("the value is beyond the bytes of the file")
    return ", or ".join(reasons)


def _place(origin: Origin | None) -> tuple[str, Frame | None]:
    """The module and the line of Python; of a backend, those of its last node."""
    if origin is None:
        return "", None
    last = origin.parts[-1] if origin.parts else origin
    return last.module, last.stack[-1] if last.stack else None


def _of_sample(
    results: Iterable[Mapping[str, Any]], nodes: Mapping[str, Any], found: Mapping[int, Row]
) -> Iterator[Row]:
    """Yields a row for each run of each instruction on a sample, in the order of the runs."""
    ratios: dict[int, float] = {}  # of the last run of each instruction
    for (number, run), of_run in itertools.groupby(results, operator.itemgetter("instruction", "run")):
        compared = [result for result in of_run if result["comparable"]]
        if not compared:
            continue
        node = nodes[str(number)]
        before = _before(number, nodes, ratios)
        worst = min(compared, key=_ratio)
        ratios[number] = _ratio(worst)
        yield replace(
            found[number],
            tensors=tuple(f"{result['dtype']} {result['sizes']}" for result in compared),
            sample=worst["sample"],
            iteration=run if node["is_in_loop"] else None,
            snr=ratios[number],
            drop=before - ratios[number],
            max_difference=max(result["max_difference"] for result in compared),
            is_close=all(
                result["close"] or _ratio(result) >= _sum(before, result["quantized_snr"]) - _UNEXPLAINED
                for result in compared
            ),
            why="",
        )


def _before(number: int, nodes: Mapping[str, Any], ratios: Mapping[int, float]) -> float:
    """Returns the least ratio of an instruction's inputs. An input without a ratio has the least of its own inputs."""
    least = BEST
    seen = set()
    left = list(nodes[str(number)]["inputs"])
    while left:
        one = left.pop()
        if one in ratios:
            least = min(least, ratios[one])
        elif one not in seen:
            seen.add(one)
            left += nodes[str(one)]["inputs"]
    return least


def _sum(*ratios: float) -> float:
    """Returns the ratio of a signal to the sum of several noises, of which each has a ratio of its own."""
    return -10 * math.log10(sum(10 ** (-ratio / 10) for ratio in ratios))


def _ratio(result: Mapping[str, Any]) -> float:
    """The ratio of a result. A signal of zeros has no ratio: if the result is close, nothing is lost."""
    snr = result["snr"]
    if math.isnan(snr) or snr < WORST:
        return BEST if result["close"] else WORST
    return min(float(snr), BEST)


def modules(found: Sequence[Row]) -> list[tuple[str, float, float]]:
    """The modules with the least ratio of their instructions and the sum of their drops, the largest sum first."""
    by_module: dict[str, list[Row]] = {}
    for row in found:
        if row.snr is not None:
            by_module.setdefault(row.module or "no module", []).append(row)
    sums = [
        (module, min(row.snr for row in of if row.snr is not None), sum(max(row.drop, 0.0) for row in of))
        for module, of in by_module.items()
    ]
    return sorted(sums, key=lambda one: (-one[2], one[0]))


def as_json(found: Sequence[Row]) -> str:
    """The table as JSON, for tools."""
    document = [
        {
            "instruction": row.number,
            "operator": row.operator,
            "module": row.module,
            "line": f"{row.line.file}:{row.line.line}" if row.line else "",
            "tensors": row.tensors,
            "eager": row.eager,
            "pass": row.graph_pass,
            "sample": row.sample,
            "iteration": row.iteration,
            "snr": row.snr,
            "drop": row.drop,
            "max_difference": row.max_difference if math.isfinite(row.max_difference) else str(row.max_difference),
            "is_close": row.is_close,
            "why": row.why,
        }
        for row in found
    ]
    return json.dumps(document, indent=1) + "\n"


def as_text(found: Sequence[Row]) -> str:
    """The table as text."""
    lines = [
        f"{'SNR dB':>7} {'drop dB':>7} {'max diff':>9} {'node':>5}  operator; tensors; line; module; iteration; pass"
    ]
    for row in found:
        figures = (
            f"{'':>7} {'':>7} {'':>9}"
            if row.snr is None
            else f"{row.snr:7.1f} {row.drop:7.1f} {row.max_difference:9.3g}"
        )
        line = f"{row.line.file}:{row.line.line}" if row.line else ""
        graph_pass = f"pass {row.graph_pass}" if row.graph_pass else ""
        iteration = "" if row.iteration is None else f"iteration {row.iteration}"
        why = f"not compared: {row.why}" if row.why else ""
        words = [row.operator, ", ".join(row.tensors), line, row.module, iteration, graph_pass, why]
        lines.append(f"{figures} {row.number:5}  " + "; ".join(filter(None, words)))
    return "\n".join(lines) + "\n"
