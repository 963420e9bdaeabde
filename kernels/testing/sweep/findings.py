"""What a sweep of one operator found."""

import collections
import dataclasses

import torch

from kernels.testing.sweep import departures
from kernels.testing.sweep.calls import Call
from kernels.testing.sweep.trial import Outcome, Verdict


@dataclasses.dataclass
class Findings:
    """What became of the calls of one operator.

    Attributes:
      counts: how many calls of a dtype had an outcome.
      passes: the dtypes of results that are PyTorch's. Here and below, empty tensors do not count.
      refused: the dtypes that PyTorch takes and the kernel refuses, whatever the other arguments.
      departures: how many calls each departure excused.
      failures: each call that is neither as PyTorch's nor excused, and what became of it.
    """

    counts: collections.Counter[tuple[torch.dtype, Outcome]] = dataclasses.field(default_factory=collections.Counter)
    passes: set[torch.dtype] = dataclasses.field(default_factory=set)
    refused: set[torch.dtype] = dataclasses.field(default_factory=set)
    departures: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    failures: list[str] = dataclasses.field(default_factory=list)

    @property
    def equal(self) -> int:
        """How many results are PyTorch's."""
        return sum(count for (_, outcome), count in self.counts.items() if outcome == Outcome.EQUAL)

    def add(self, call: Call, verdict: Verdict) -> None:
        self.counts[call.dtype, verdict.outcome] += 1
        is_empty = departures.is_empty(call, verdict)
        if verdict.outcome == Outcome.EQUAL and not is_empty:
            self.passes.add(call.dtype)
        if verdict.outcome in (Outcome.EQUAL, Outcome.BOTH_REFUSE, Outcome.NO_CALL):
            return
        departure = departures.find(call, verdict)
        if departure is None:
            self.failures.append(f"{verdict.outcome.value}: {call}: {' '.join(verdict.reason.split())}")
            return
        self.departures[departure.name] += 1
        if call.dtype in departure.refused and not is_empty:
            self.refused.add(call.dtype)
