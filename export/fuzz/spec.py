"""What a random module is made of: a list of steps with numbers, which text can hold."""

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
        kind: a key of `steps.KINDS`.
        numbers: what the step's choices are made by, one after the other; where the list ends, each choice is the
            first one, which is the plainest.
    """

    kind: str
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A random module with its inputs.

    Attributes:
        inputs: the choices of the dtype and of the first input.
        steps: what the module does.
        results: the choices of what the module gives besides its last value, and of how it is exported.
    """

    inputs: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()
    results: tuple[int, ...] = ()

    def __str__(self) -> str:
        """One line of JSON, for `parse`."""
        return json.dumps(asdict(self), separators=(",", ":"))


def parse(text: str) -> Spec:
    """The spec that a text is of."""
    fields: dict[str, Any] = json.loads(text)
    steps = tuple(Step(one["kind"], tuple(one["numbers"])) for one in fields["steps"])
    return Spec(tuple(fields["inputs"]), steps, tuple(fields["results"]))


class Pick:
    """Makes choices by numbers.

    Args:
        numbers: one for each choice, taken modulo the count of its options; zeros follow.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def __call__(self, *options: _T) -> _T:
        """One of the options."""
        return options[next(self._numbers, 0) % len(options)]

    def up_to(self, largest: int) -> int:
        """A number from 0."""
        number: int = self(*range(largest + 1))
        return number
