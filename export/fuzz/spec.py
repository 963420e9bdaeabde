"""The spec of a random module: a list of steps with numbers, which can be written as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        kind: a key of `draft.KINDS`.
        numbers: the step's choices, one after another. After the end of the list, each choice is the first option,
            which is the simplest.
    """

    kind: str
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A random module with its inputs.

    Attributes:
        inputs: the choices of the dtype and of the first input.
        steps: the steps of the module.
        results: the choices of further returned values, and of the export.
    """

    inputs: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()
    results: tuple[int, ...] = ()

    def __str__(self) -> str:
        """Returns one line of JSON, for `parse`."""
        return json.dumps(asdict(self), separators=(",", ":"))


def parse(text: str) -> Spec:
    """Parses the JSON of `str(spec)`."""
    fields: dict[str, Any] = json.loads(text)
    steps = tuple(Step(one["kind"], tuple(one["numbers"])) for one in fields["steps"])
    return Spec(tuple(fields["inputs"]), steps, tuple(fields["results"]))


class Pick:
    """Makes choices.

    Args:
        numbers: one number for each choice, taken modulo the number of options; then zeros.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def __call__(self, *options: _T) -> _T:
        """Returns one of the options."""
        return options[next(self._numbers, 0) % len(options)]
