"""A profile as one web page that loads nothing: page.html with its style, its script and the profile's data."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from string import Template
from typing import Any

from codegen.pages import style
from profiles.etdump import Kind
from profiles.profile_data import Frame, Node, Origin, Profile, Times, View

_FOLDER = Path(__file__).parent


def render(title: str, profile: Profile) -> str:
    """The page.

    Args:
        title: what was profiled.
        profile: what to show.
    """
    return Template((_FOLDER / "page.html").read_text("utf-8")).substitute(
        title=html.escape(title),
        style=style.STYLE,
        own_style=(_FOLDER / "page.css").read_text("utf-8").strip(),
        counts=_counts(profile),
        data=_data(profile),
        script=(_FOLDER / "page.js").read_text("utf-8").strip(),
    )


def _counts(profile: Profile) -> str:
    first, warm_up, timed = (profile.counts[kind] for kind in (Kind.FIRST, Kind.WARM_UP, Kind.TIMED))
    of_samples = f" of {_count(profile.samples, 'sample')}" if profile.samples else ""
    threads = dict.fromkeys(view.threads for view in profile.views)
    if len(threads) > 1:
        of_samples += f" with each of {len(threads)} numbers of threads"
    if profile.kind is Kind.FIRST:
        return f"{_count(first, 'run')}{of_samples}; none was timed apart, with <code>--iterations</code>."
    return (
        f"{_count(timed, 'timed run')}{of_samples}; besides, {_count(warm_up, 'warm-up run')} and "
        f"{_count(first, 'first run')}, of which the page has no times."
    )


def _count(count: int, what: str) -> str:
    return f"{count:,} {what if count == 1 else what + 's'}"


class _Indices:
    """The different values of something, of which the data name each by its index."""

    def __init__(self) -> None:
        self.of: dict[Hashable, int] = {}

    def __call__(self, value: Hashable) -> int:
        return self.of.setdefault(value, len(self.of))


def _data(profile: Profile) -> str:
    """What the script shows, as JSON: a line for each node, and for each node of each view."""
    frames, tensors = _Indices(), _Indices()
    nodes = [_node(node, frames, tensors) for node in profile.nodes]
    index_of = {node.number: index for index, node in enumerate(profile.nodes)}
    fields = {
        "frames": _lines([_frame(frame) for frame in frames.of]),
        "tensors": _lines(list(tensors.of)),
        "nodes": _lines(nodes),
        "views": "[" + ",".join(_view(view, profile, index_of) for view in profile.views) + "]",
    }
    text = "{\n" + ",\n".join(f'"{name}": {value}' for name, value in fields.items()) + "\n}"
    # No text may end the element that it stands in.
    return text.replace("<", "\\u003c")


def _node(node: Node, frames: Callable[[Frame], int], tensors: Callable[[str], int]) -> dict[str, Any]:
    entry: dict[str, Any] = {"number": node.number, "operator": node.operator}
    if node.call:
        entry["inputs"] = [tensors(tensor) for tensor in node.call.inputs]
        entry["outputs"] = [tensors(tensor) for tensor in node.call.outputs]
    return entry | (_origin(node.origin, frames) if node.origin else {})


def _origin(origin: Origin, frames: Callable[[Frame], int]) -> dict[str, Any]:
    entry: dict[str, Any] = {"stack": [frames(frame) for frame in origin.stack]}
    if origin.module:
        entry["module"] = origin.module
    if origin.parts:
        entry["taken"] = [{"operator": part.operator} | _origin(part, frames) for part in origin.parts]
    return entry


def _frame(frame: Any) -> list[object]:
    return [f"{frame.file}:{frame.line}", frame.function, frame.code]


def _view(view: View, profile: Profile, index_of: Mapping[int, int]) -> str:
    fields = {
        "threads": _json(view.threads),
        "sample": _json(view.sample),
        "total": _json(_times(view.total)),
        "runtime": _json(_times(view.runtime)),
        "nodes": _lines([_node_times(view, node.number) for node in profile.nodes]),
        "timeline": _lines([[index_of[span.number], round(span.start), round(span.ns)] for span in view.timeline]),
    }
    return "{\n" + ",\n".join(f'"{name}": {value}' for name, value in fields.items()) + "\n}"


def _node_times(view: View, number: int) -> dict[str, Any] | None:
    """The times of a node; None if none of the view's runs has the node."""
    if number not in view.nodes:
        return None
    entry: dict[str, Any] = {"times": _times(view.nodes[number])}
    if number in view.parts:
        entry["parts"] = [[name, *_times(times)] for name, times in view.parts[number]]
    return entry


def _times(times: Times) -> list[int]:
    """How many runs, and nanoseconds."""
    return [times.runs, *map(round, (times.median, times.p10, times.p90, times.least, times.most))]


def _lines(values: list[Any]) -> str:
    return "[\n" + ",\n".join(map(_json, values)) + "\n]" if values else "[]"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
