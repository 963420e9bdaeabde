"""Measures the phases of an export. Each export runs in a process of its own, so there is one record of phases."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass
class _Recorded:
    """The phases of an export.

    Attributes:
        is_shown: whether to print the begin and the end of each phase to stderr.
        start: the time at which the export began.
        seconds: the seconds of each phase, in the order of the first runs. A phase that runs several times has the sum.
        inner: for each running phase, the seconds of the phases within the phase.
    """

    is_shown: bool = False
    start: float = field(default_factory=time.perf_counter)
    seconds: dict[str, float] = field(default_factory=dict)
    inner: list[float] = field(default_factory=list)


_recorded = _Recorded()


def begin(*, is_shown: bool) -> None:
    """Begins an export, and clears the record of an earlier one. If `is_shown`, phases are printed to stderr."""
    _recorded.is_shown = is_shown
    _recorded.start = time.perf_counter()
    _recorded.seconds.clear()


@contextlib.contextmanager
def phase(name: str) -> Iterator[None]:
    """Records a phase. The seconds of inner phases do not count for the outer phase."""
    _show(name)
    _recorded.seconds.setdefault(name, 0.0)
    _recorded.inner.append(0.0)
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - start
        own = seconds - _recorded.inner.pop()
        _recorded.seconds[name] += own
        if _recorded.inner:
            _recorded.inner[-1] += seconds
        _show(f"{name}: {own:.2f} s")


def _show(text: str) -> None:
    if _recorded.is_shown:
        print(f"export: {text}", file=sys.stderr, flush=True)


def seconds() -> Mapping[str, float]:
    """Returns the seconds of each phase, of `other` (outside of all phases) and of `total`."""
    total = time.perf_counter() - _recorded.start
    return {**_recorded.seconds, "other": total - sum(_recorded.seconds.values()), "total": total}


def as_text() -> str:
    """Returns a line of text for each phase."""
    times = seconds()
    width = max(map(len, times))
    return "".join(f"{name:<{width}} {one:8.2f}\n" for name, one in times.items())
