"""The report of the changes of graph passes and of the check of the program, for each method."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch.fx import Node

from diagnostics.errors import Finding
from export.graph_passes.graph_pass import Change
from export.user.model_file import Method


@dataclass(frozen=True)
class Applied:
    """A change of a graph.

    Attributes:
        what: a description of the change.
        node: the name of the changed node.
        at: the line of the user's code for which the node exists; empty if unknown.
    """

    what: str
    node: str
    at: str


@dataclass(frozen=True)
class PassReport:
    """The report of a pass on a method.

    Attributes:
        name: the name of the pass.
        left_out: the reason why the pass did not run; empty if the pass ran.
        changes: the changes.
        failures: the exceptions of the pass, whose calls stayed unchanged, or the reason for `left_out`.
    """

    name: str
    left_out: str = ""
    changes: tuple[Applied, ...] = ()
    failures: tuple[Finding, ...] = ()


def of_pass(method: Method, name: str, changes: Sequence[Change], failures: tuple[Finding, ...]) -> PassReport:
    """Returns the report of a pass that ran on a method."""

    def at(node: Node) -> str:
        return str(method.source.frames_of_text(node.meta.get("stack_trace") or "")[0] or "")

    applied = tuple(Applied(change.what, change.node.name, at(change.node)) for change in changes)
    return PassReport(name, changes=applied, failures=failures)


def as_json(reports: Mapping[str, Sequence[PassReport]], checked: Mapping[str, object]) -> str:
    """Returns the report as JSON, for tools.

    Args:
        reports: the reports of the passes, for each method.
        checked: the result of the check of each checked method, as an object that `str` describes.
    """
    methods = {name: [_as_dict(one) for one in of] for name, of in reports.items()}
    checks = {name: _check(name, checked) for name in reports}
    return json.dumps({"methods": methods, "checks": checks}, indent=2) + "\n"


def _as_dict(report: PassReport) -> dict[str, Any]:
    failures = [{"at": str(one.where), "found": one.found} for one in report.failures]
    return {
        "name": report.name,
        "left_out": report.left_out,
        "changes": [asdict(one) for one in report.changes],
        "failures": failures,
    }


def as_text(reports: Mapping[str, Sequence[PassReport]], checked: Mapping[str, object]) -> str:
    """Returns the report as text, for users. The arguments are those of `as_json`."""
    lines = [line for name, of in reports.items() for line in (*_lines(name, of), f"  check: {_check(name, checked)}")]
    return "\n".join(lines) + "\n"


def _check(method: str, checked: Mapping[str, object]) -> str:
    return str(checked.get(method, "left out"))


def _lines(method: str, reports: Sequence[PassReport]) -> Iterator[str]:
    yield f"{method}:" if reports else f"{method}: no graph passes"
    for report in reports:
        count = f"{len(report.changes)} change{'' if len(report.changes) == 1 else 's'}"
        yield f"  {report.name}: " + (f"left out: {report.left_out}" if report.left_out else count)
        places: dict[str, list[str]] = {}
        for change in report.changes:
            places.setdefault(change.what, []).append(change.at)
        for what, lines in sorted(places.items()):
            known = [line for line in dict.fromkeys(lines) if line]
            yield f"    {len(lines)}: {what}" + (f"; {', '.join(known)}" if known else "")
        for failure in report.failures:
            yield f"    left as it was: {failure.where}: {failure.found}"
