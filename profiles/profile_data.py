"""What a profile says of a method: its nodes, with their times in a typical run, and where they come from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from profiles.etdump import Event, Part, Run


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
class Node:
    """An instruction of the method.

    Attributes:
        number: of the instruction.
        operator: the operator, or the backend.
        ns: its time.
        parts: what a delegate tells of its work.
        origin: where it comes from, if that is known.
    """

    number: int
    operator: str
    ns: int
    parts: tuple[Part, ...]
    origin: Origin | None


@dataclass(frozen=True)
class Profile:
    """A method's profile.

    Attributes:
        runs: how many runs there were.
        run: the one whose time is the median, of which all times are.
        nodes: in the order in which they first ran.
    """

    runs: int
    run: Run
    nodes: tuple[Node, ...]


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


def summarize(runs: Sequence[Run], origin_of: Mapping[int, Origin]) -> Profile:
    """The profile of some runs; there must be one."""
    run = sorted(runs, key=lambda run: run.ns)[len(runs) // 2]
    events: dict[int, list[Event]] = {}
    for event in run.events:
        events.setdefault(event.instruction, []).append(event)
    nodes = tuple(
        Node(
            number,
            origin_of[number].operator if number in origin_of else calls[0].operator or "?",
            sum(call.ns for call in calls),
            tuple(part for call in calls for part in call.parts),
            origin_of.get(number),
        )
        for number, calls in events.items()
    )
    return Profile(len(runs), run, nodes)
