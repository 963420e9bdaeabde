"""A profile as a trace in the JSON format of Chrome's trace events, which Perfetto opens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from profiles.calls import Call
from profiles.etdump import Event, Kind, Run
from profiles.profile_data import Origin, name_of

# All events are of one process and one thread: calls nest in their run, and what a backend tells in the call.
_TRACK = {"pid": 1, "tid": 1}
_KINDS = {Kind.FIRST: "first run", Kind.WARM_UP: "warm-up run", Kind.TIMED: "timed run"}


def lines(
    title: str,
    method: str,
    runs: Iterable[Run],
    origin_of: Mapping[int, Origin],
    call_of: Mapping[int, Call],
) -> Iterator[str]:
    """The lines of the trace, an event each.

    Args:
        title: what was profiled.
        method: the method that ran.
        runs: in their order; there must be one.
        origin_of: the origins of nodes by number.
        call_of: the calls of nodes by number.
    """
    yield '{"displayTimeUnit": "ns", "traceEvents": [\n'
    yield _event(ph="M", name="process_name", args={"name": title})
    yield ",\n" + _event(ph="M", name="thread_name", args={"name": method})
    numbers = dict.fromkeys(Kind, 0)
    begin: int | None = None
    for run in runs:
        begin = run.start if begin is None else begin
        name = f"{_KINDS[run.kind]} {numbers[run.kind]}"
        numbers[run.kind] += 1
        sample = {} if run.sample is None else {"sample": run.sample}
        yield ",\n" + _span(name, "run", run.start - begin, run.ns, sample)
        for event in run.events:
            origin = origin_of.get(event.instruction)
            call = call_of.get(event.instruction)
            name = name_of(event, origin, call)
            details = _details(event, origin, call)
            yield ",\n" + _span(name, "node", event.start - begin, event.ns, details)
            for part in event.parts:
                # A backend's clock is coarser: what it tells may begin before the call, or end afterwards.
                start, end = (min(max(ns, event.start), event.end) for ns in (part.start, part.end))
                yield ",\n" + _span(part.name, "backend", start - begin, end - start, {"ns": part.ns})
    yield "\n]}\n"


def _details(event: Event, origin: Origin | None, call: Call | None) -> dict[str, object]:
    details: dict[str, object] = {"node": event.instruction}
    if origin and origin.module:
        details["module"] = origin.module
    if origin and origin.stack:
        details["line"] = f"{origin.stack[-1].file}:{origin.stack[-1].line}"
    if call:
        details |= {name: "; ".join(of) for name, of in (("in", call.inputs), ("out", call.outputs)) if of}
    return details


def _span(name: str, category: str, start: int, ns: int, details: Mapping[str, object]) -> str:
    """An event with a beginning and a length, which the format has in microseconds."""
    return _event(ph="X", name=name, cat=category, ts=start / 1e3, dur=ns / 1e3, args=details)


def _event(**fields: Any) -> str:
    return json.dumps(fields | _TRACK, separators=(",", ":"))
