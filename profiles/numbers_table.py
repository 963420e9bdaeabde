"""A comparison with eager PyTorch: the instructions of a method, sorted by how much of the signal they lose."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from profiles.calls import Call
from profiles.profile_data import Frame, Origin

# In decibels: the signal-to-noise ratio of equal tensors, which is above that of rounding in float32; and the ratio of
# tensors with nothing in common.
BEST = 150.0
WORST = -50.0


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
        snr: the signal-to-noise ratio in decibels against eager PyTorch; None if there is no value to compare with.
        drop: how much less that is than the least ratio of the inputs.
        max_difference: the largest difference.
        is_close: whether the difference is within the runner's tolerance for the dtype.
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
    by_sample: dict[int, dict[int, list[dict[str, Any]]]] = {}
    for line in compared.splitlines():
        result = json.loads(line)
        of_sample = by_sample.setdefault(result["sample"], {})
        of_sample.setdefault(result["instruction"], []).append(result)
    inputs = {int(number): node["inputs"] for number, node in nodes.items()}
    found: dict[int, Row] = {}
    for text, node in nodes.items():
        number = int(text)
        origin, call = origin_of.get(number), call_of.get(number)
        module, frame = _place(origin)
        operator = call.name if call else origin.operator if origin else "?"
        eager = tuple(dict.fromkeys(filter(None, node["eager"])))
        row = Row(number, operator, module, frame, call.outputs if call else (), eager, node["pass"])
        found[number] = replace(row, why=_why(node, is_complete=is_complete))
    for sample, results in by_sample.items():
        for row in _of_sample(sample, results, inputs, found):
            if found[row.number].snr is None or row.drop > found[row.number].drop:
                found[row.number] = row
    return sorted(found.values(), key=lambda row: (row.snr is None, -round(row.drop, 1), row.number))


def _why(node: Mapping[str, Any], *, is_complete: bool) -> str:
    if node["is_nested"]:
        return "in a branch or a loop"
    if not any(node["eager"]):
        return "no node of torch.export's graph has this value"
    return "the value has another shape" if is_complete else "another shape, or beyond the bytes of the file"


def _place(origin: Origin | None) -> tuple[str, Frame | None]:
    """The module and the line of Python; of a backend, those of its last node."""
    if origin is None:
        return "", None
    last = origin.parts[-1] if origin.parts else origin
    return last.module, last.stack[-1] if last.stack else None


def _of_sample(
    sample: int,
    results: Mapping[int, Sequence[Mapping[str, Any]]],
    inputs: Mapping[int, Sequence[int]],
    found: Mapping[int, Row],
) -> Iterator[Row]:
    ratios: dict[int, float] = {}  # Of an instruction without a ratio, the least of its inputs.
    for number in sorted(inputs):
        before = min((ratios[each] for each in inputs[number] if each in ratios), default=BEST)
        compared = [result for result in results.get(number, ()) if result["comparable"]]
        ratios[number] = before
        if not compared:
            continue
        worst = min(compared, key=_ratio)
        ratios[number] = _ratio(worst)
        tensors = tuple(f"{result['dtype']} {result['sizes']}" for result in compared)
        yield replace(
            found[number],
            tensors=tensors,
            sample=sample,
            snr=ratios[number],
            drop=before - ratios[number],
            max_difference=max(result["max_difference"] for result in compared),
            is_close=all(result["close"] for result in compared),
            why="",
        )


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
    lines = [f"{'SNR dB':>7} {'drop dB':>7} {'max diff':>9} {'node':>5}  operator; tensors; line; module; pass"]
    for row in found:
        figures = (
            f"{'':>7} {'':>7} {'':>9}"
            if row.snr is None
            else f"{row.snr:7.1f} {row.drop:7.1f} {row.max_difference:9.3g}"
        )
        line = f"{row.line.file}:{row.line.line}" if row.line else ""
        graph_pass = f"pass {row.graph_pass}" if row.graph_pass else ""
        why = f"not compared: {row.why}" if row.why else ""
        words = [row.operator, ", ".join(row.tensors), line, row.module, graph_pass, why]
        lines.append(f"{figures} {row.number:5}  " + "; ".join(filter(None, words)))
    return "\n".join(lines) + "\n"
