"""What a profile says of a method: its nodes, their times over many runs, and where they come from."""

from __future__ import annotations

import itertools
import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from profiles.calls import Call
from profiles.etdump import Event, Kind, Run

# Of so many samples, each is shown apart, too.
_SHOWN_SAMPLES = 8


@dataclass(frozen=True)
class Frame:
    """A line of Python that a node comes from.

    Attributes:
        file: the path, as the export names the file.
        line: from 1.
        function: the function that the line is in.
        code: the text of the line.
    """

    file: str
    line: int
    function: str
    code: str


@dataclass(frozen=True)
class Origin:
    """Where a node comes from.

    Attributes:
        operator: the operator, or the backend.
        module: the path of the module in the model.
        stack: the lines of Python, the innermost last.
        parts: the nodes that a backend took.
    """

    operator: str
    module: str
    stack: tuple[Frame, ...]
    parts: tuple[Origin, ...]


@dataclass(frozen=True)
class Times:
    """A time over some runs, in nanoseconds.

    Attributes:
        runs: how many runs have it.
        median: half of the runs take no longer.
        p10: a tenth of the runs take no longer.
        p90: nine tenths of the runs take no longer.
        least: the shortest.
        most: the longest.
    """

    runs: int
    median: float
    p10: float
    p90: float
    least: float
    most: float

    @classmethod
    def of(cls, ns: Iterable[int]) -> Times:
        """The times of some runs; there must be one."""
        ordered = sorted(ns)
        median, p10, p90 = (_quantile(ordered, part) for part in (0.5, 0.1, 0.9))
        return cls(len(ordered), median, p10, p90, ordered[0], ordered[-1])


@dataclass(frozen=True)
class Node:
    """An instruction of the method.

    Attributes:
        number: of the instruction.
        operator: the operator, or the backend.
        origin: where it comes from, if that is known.
        call: what it calls, if the program is known.
    """

    number: int
    operator: str
    origin: Origin | None
    call: Call | None


@dataclass(frozen=True)
class Span:
    """A call of a node in a typical run: medians of when it begins and of how long it takes.

    Attributes:
        number: of the node.
        start: from the beginning of the run, in nanoseconds.
        ns: how long it takes.
    """

    number: int
    start: float
    ns: float


@dataclass(frozen=True)
class View:
    """Some runs of a method.

    Attributes:
        threads: the number of threads that they are with; None if it was not given.
        sample: the sample that they are of; None for those of all samples.
        total: the times of whole runs.
        runtime: what of a run is no node's.
        nodes: the times of nodes by their numbers; a node that runs several times in a run has the sum.
        parts: what backends tell of parts of their work, by the numbers of their nodes, in the order of the parts.
        timeline: the calls of a typical run, in their order.
    """

    threads: int | None
    sample: int | None
    total: Times
    runtime: Times
    nodes: Mapping[int, Times]
    parts: Mapping[int, Sequence[tuple[str, Times]]]
    timeline: Sequence[Span]


@dataclass(frozen=True)
class Profile:
    """A method's profile.

    Attributes:
        counts: how many runs of each kind there were.
        kind: of the runs that the times are of: the timed ones, or the first where none is timed.
        samples: how many samples the runs are of; 0 if the file does not tell.
        nodes: in the order in which they first ran.
        views: all runs of the kind, and those of each sample where there are a few; for each number of threads.
    """

    counts: Mapping[Kind, int]
    kind: Kind
    samples: int
    nodes: tuple[Node, ...]
    views: tuple[View, ...]

    @classmethod
    def joined(cls, profiles: Sequence[Profile]) -> Profile:
        """The profiles of one method with several numbers of threads. All have the same kinds of runs."""
        first = profiles[0]
        nodes = {node.number: node for profile in profiles for node in profile.nodes}
        views = tuple(view for profile in profiles for view in profile.views)
        return cls(first.counts, first.kind, first.samples, tuple(nodes.values()), views)


def origins(content: str, method: str) -> dict[int, Origin]:
    """The origins of a method's instructions by number, out of the file that an export wrote."""
    document: Mapping[str, Any] = json.loads(content)
    frames = [Frame(*frame) for frame in document["frames"]]

    def origin(entry: Mapping[str, Any]) -> Origin:
        return Origin(
            entry["operator"],
            entry.get("module", ""),
            tuple(frames[index] for index in entry.get("stack", ())),
            tuple(origin(part) for part in entry.get("parts", ())),
        )

    return {int(number): origin(entry) for number, entry in document["methods"].get(method, {}).items()}


def summarize(
    runs: Iterable[Run], origin_of: Mapping[int, Origin], call_of: Mapping[int, Call], threads: int | None = None
) -> Profile | None:
    """The profile of some runs, of which one is kept at a time; None if there is none.

    Args:
        runs: in their order.
        origin_of: the origins of nodes by number.
        call_of: the calls of nodes by number.
        threads: the number of threads that the runs are with, if it is known.
    """
    counts = dict.fromkeys(Kind, 0)
    # The runs of a kind, by sample.
    measured: dict[Kind, dict[int | None, _Measured]] = {Kind.FIRST: {}, Kind.TIMED: {}}
    first: dict[int, Event] = {}
    for run in runs:
        counts[run.kind] += 1
        for event in run.events:
            first.setdefault(event.instruction, event)
        if run.kind in measured:
            measured[run.kind].setdefault(run.sample, _Measured()).add(run)
    kind = Kind.TIMED if counts[Kind.TIMED] else Kind.FIRST
    by_sample = measured[kind]
    if not by_sample:
        return None
    views = [_Measured.joined(list(by_sample.values())).view(threads, None)]
    if 1 < len(by_sample) <= _SHOWN_SAMPLES:
        views += [of_sample.view(threads, sample) for sample, of_sample in by_sample.items()]
    nodes = tuple(
        Node(
            number,
            name_of(first[number], origin_of.get(number), call_of.get(number)),
            origin_of.get(number),
            call_of.get(number),
        )
        for number in views[0].nodes
    )
    return Profile(counts, kind, sum(sample is not None for sample in by_sample), nodes, tuple(views))


def name_of(event: Event, origin: Origin | None, call: Call | None) -> str:
    """The operator or the backend of a node."""
    known = call.name if call else origin.operator if origin else event.operator
    return known or "?"


@dataclass
class _Spans:
    """The first, second, ... call of a node in each run: when it began, from the beginning of the run, and how long it
    took."""

    starts: array[int] = field(default_factory=lambda: array("q"))
    ns: array[int] = field(default_factory=lambda: array("q"))


@dataclass
class _Measured:
    """The times of some runs: arrays, since there may be millions of calls.

    Attributes:
        totals: of whole runs.
        rests: what of each run is no node's.
        calls: by the number of the node, and the number of the call in a run.
        nodes: the sums of the calls of a node that has several in a run.
        parts: by the number of the node, the number of the part in a run, and its name.
    """

    totals: array[int] = field(default_factory=lambda: array("q"))
    rests: array[int] = field(default_factory=lambda: array("q"))
    calls: dict[tuple[int, int], _Spans] = field(default_factory=dict)
    nodes: dict[int, array[int]] = field(default_factory=dict)
    parts: dict[tuple[int, int, str], array[int]] = field(default_factory=dict)

    def add(self, run: Run) -> None:
        sums: dict[int, int] = {}
        calls: dict[int, int] = {}
        parts: dict[int, int] = {}
        for event in run.events:
            number = event.instruction
            index = calls.get(number, 0)
            calls[number] = index + 1
            ns = event.end - event.start
            sums[number] = sums.get(number, 0) + ns
            call = self.calls.get((number, index))
            if call is None:
                call = self.calls[number, index] = _Spans()
            call.starts.append(event.start - run.start)
            call.ns.append(ns)
            for part in event.parts:
                at = parts.get(number, 0)
                parts[number] = at + 1
                self.parts.setdefault((number, at, part.name), array("q")).append(part.ns)
        for number, ns in sums.items():
            if number not in self.nodes:
                self.nodes[number] = array("q")
            self.nodes[number].append(ns)
        self.totals.append(run.ns)
        self.rests.append(max(run.ns - sum(sums.values()), 0))

    @classmethod
    def joined(cls, several: Sequence[_Measured]) -> _Measured:
        """All of some runs."""
        if len(several) == 1:
            return several[0]
        joined = cls()
        for each in several:
            joined.totals += each.totals
            joined.rests += each.rests
            for at, call in each.calls.items():
                joined_call = joined.calls.setdefault(at, _Spans())
                joined_call.starts += call.starts
                joined_call.ns += call.ns
            for number, ns in each.nodes.items():
                joined.nodes.setdefault(number, array("q")).extend(ns)
            for part, ns in each.parts.items():
                joined.parts.setdefault(part, array("q")).extend(ns)
        return joined

    def view(self, threads: int | None, sample: int | None) -> View:
        parts: dict[int, list[tuple[str, Times]]] = {}
        for (number, _, name), ns in self.parts.items():
            parts.setdefault(number, []).append((name, Times.of(ns)))
        return View(
            threads,
            sample,
            Times.of(self.totals),
            Times.of(self.rests),
            {number: Times.of(ns) for number, ns in self.nodes.items()},
            parts,
            self._timeline(),
        )

    def _timeline(self) -> list[Span]:
        # A call that fewer than half of the runs have is in no typical run.
        typical = [
            Span(number, _median(call.starts), _median(call.ns))
            for (number, _), call in self.calls.items()
            if 2 * len(call.ns) >= len(self.totals)
        ]
        typical.sort(key=lambda span: span.start)
        # Medians of two calls may overlap by a little, which the calls themselves do not.
        return [
            span if after is None else Span(span.number, span.start, max(min(span.ns, after.start - span.start), 0))
            for span, after in itertools.zip_longest(typical, typical[1:])
        ]


def _median(ns: Iterable[int]) -> float:
    return _quantile(sorted(ns), 0.5)


def _quantile(ordered: Sequence[int], part: float) -> float:
    """What lies between the two elements at a part of the way through sorted numbers, such as 0.1, in proportion."""
    at = part * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])
