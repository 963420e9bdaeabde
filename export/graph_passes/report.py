"""A report of what each graph pass did to each method."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from export.graph_passes.graph_pass import Change
from export.model_file import Method


@dataclass(frozen=True)
class Applied:
    """A change of a graph.

    Attributes:
        what: what was done.
        node: the node of the graph that changed.
        at: the line of the user's own that the node comes from; empty if none is known.
    """

    what: str
    node: str
    at: str


@dataclass(frozen=True)
class PassReport:
    """What a pass did to a method.

    Attributes:
        name: the pass.
        left_out: why the pass did not run; empty if it did.
        changes: what it changed.
    """

    name: str
    left_out: str
    changes: tuple[Applied, ...]


def of_pass(method: Method, name: str, changes: Sequence[Change], left_out: str = "") -> PassReport:
    """What a pass did to a method."""
    return PassReport(
        name,
        left_out,
        tuple(
            Applied(change.what, change.node, str(method.source.frames_of_text(change.stack_trace)[0] or ""))
            for change in changes
        ),
    )


def as_json(reports: Mapping[str, Sequence[PassReport]]) -> str:
    """The report for programs."""
    return json.dumps({"methods": {name: [asdict(one) for one in of] for name, of in reports.items()}}, indent=2) + "\n"


def as_text(reports: Mapping[str, Sequence[PassReport]]) -> str:
    """The report for people."""
    return "\n".join(line for name, of in reports.items() for line in _lines(name, of)) + "\n"


def _lines(method: str, reports: Sequence[PassReport]) -> Iterator[str]:
    yield f"{method}:" if reports else f"{method}: no graph passes"
    for report in reports:
        if report.left_out:
            yield f"  {report.name}: left out: {report.left_out}"
            continue
        yield f"  {report.name}: {len(report.changes)} change{'' if len(report.changes) == 1 else 's'}"
        places: dict[str, list[str]] = {}
        for change in report.changes:
            places.setdefault(change.what, []).append(change.at)
        for what, lines in sorted(places.items()):
            known = [line for line in dict.fromkeys(lines) if line]
            yield f"    {len(lines)}: {what}" + (f"; {', '.join(known)}" if known else "")
