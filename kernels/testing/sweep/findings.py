"""The findings of a sweep of one operator."""

import collections
import dataclasses

import torch

from kernels.testing.sweep import departures
from kernels.testing.sweep.calls import Call
from kernels.testing.sweep.trial import Outcome, Verdict


@dataclasses.dataclass
class Findings:
    """The outcomes of the calls of one operator.

    Attributes:
      counts: the number of calls for each dtype and outcome.
      passes: the dtypes with results that equal PyTorch's. Here and below, calls with empty tensors do not count.
      refused: the dtypes that PyTorch accepts and the kernel refuses for all other arguments.
      departures: the number of calls that each departure has excused.
      failures: the calls that differ from PyTorch and are not excused, with their outcomes.
    """

    counts: collections.Counter[tuple[torch.dtype, Outcome]] = dataclasses.field(default_factory=collections.Counter)
    passes: set[torch.dtype] = dataclasses.field(default_factory=set)
    refused: set[torch.dtype] = dataclasses.field(default_factory=set)
    departures: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    failures: list[str] = dataclasses.field(default_factory=list)

    @property
    def equal(self) -> int:
        """The number of results that equal PyTorch's."""
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
