"""The sweep of one operator: PyTorch's samples or given calls in all dtypes, and variations of them by Hypothesis."""

import dataclasses
import functools
import itertools
import mmap
import pathlib
import random
import resource
from collections.abc import Iterable, Iterator
from typing import Any

import hypothesis
import torch

from kernels.testing import inputs
from kernels.testing.judge import OpTester
from kernels.testing.references import reference
from kernels.testing.sweep import given, workers
from kernels.testing.sweep.calls import Call
from kernels.testing.sweep.findings import Findings
from kernels.testing.sweep.opinfos import Samples
from kernels.testing.sweep.trial import Trial, read_progress
from kernels.testing.sweep.variations import variations

_TIMEOUT = 300.0  # Seconds for one call.
_MEMORY = 2 << 30  # Bytes of memory for the calls of one operator. PyTorch refuses larger tensors.
_DEATHS = 50  # The largest number of crashes of an operator. The sweep of the operator ends after more crashes.
_POOL = 60  # The number of calls that are varied.
_POOL_DTYPES = (torch.float32, torch.int64, torch.float16, torch.bool, torch.uint8)
_POOL_ELEMENTS = 300


@dataclasses.dataclass(frozen=True)
class Extent:
    """The extent of a sweep.

    Attributes:
      seed: the seed for the values of samples, the choice of dtypes and the variations.
      dtypes: the largest number of dtypes of an operator.
      calls: the largest number of different calls of an operator for each dtype.
      variations: the number of variations of an operator's calls.
    """

    seed: int
    dtypes: int
    calls: int
    variations: int


class Sweep:
    """Tests the calls of the operators of a library.

    Args:
      operators: the registered names.
      extent: the extent of the sweep for each operator.
    """

    def __init__(self, operators: Iterable[str], extent: Extent) -> None:
        torch.set_num_threads(1)
        self._samples = Samples(OpTester(name, **reference(name)).eager for name in operators)
        self._extent = extent

    def run(self, operators: Iterable[str], jobs: int) -> Iterator[tuple[str, Findings]]:
        """The findings of each operator, in the order of completion. Each operator runs in its own process."""
        for name, result in workers.run(self._judge_all, [*operators], jobs, _TIMEOUT):
            yield name, self._judge_again(name, result) if isinstance(result, workers.Death) else result

    def _judge_again(self, operator: str, death: workers.Death) -> Findings:
        """Tests the calls of an operator that has crashed, without the calls that crash."""
        deaths: dict[int, str] = {}
        result: Any = death
        while isinstance(result, workers.Death) and len(deaths) < _DEATHS:
            number, phase, call = read_progress(result.progress)
            deaths[number] = f"{phase} dies of {result.cause}: {call}"
            work = functools.partial(self._judge_all, left_out=frozenset(deaths))
            ((_, result),) = workers.run(work, [operator], 1, _TIMEOUT)
        if isinstance(result, workers.Death):
            first = next(iter(deaths.values()))
            findings = Findings(failures=[f"given up after {len(deaths)} calls that crash, first: {first}"])
        else:
            findings = result
        findings.failures += [death for death in deaths.values() if death.startswith("the kernel")]
        return findings

    def _judge_all(self, operator: str, progress: mmap.mmap, left_out: frozenset[int] = frozenset()) -> Findings:
        """Tests the calls of one operator, without the call numbers in `left_out`."""
        size = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, size + _MEMORY))
        findings = Findings()
        trial = Trial(operator, progress)
        seen: set[str] = set()

        def judge(call: Call) -> None:
            text = str(call)
            if text not in seen:
                seen.add(text)
                if len(seen) not in left_out:
                    findings.add(call, trial.judge(len(seen), call))

        for number, call in enumerate(self._recorded(operator)):
            judge(dataclasses.replace(call, static=number % 2 == 0))
        pool = [*itertools.islice(self._pool(operator), _POOL)]
        if pool and self._extent.variations:
            settings = hypothesis.settings(
                max_examples=self._extent.variations,
                database=None,
                deadline=None,
                phases=[hypothesis.Phase.generate],
                suppress_health_check=[*hypothesis.HealthCheck],
            )
            hypothesis.seed(self._extent.seed)(settings(hypothesis.given(variations(pool))(judge)))()
        return findings

    def _recorded(self, operator: str) -> Iterator[Call]:
        every = inputs.MOVABLE_DTYPES
        chosen = random.Random(f"{self._extent.seed} {operator}").sample(every, min(self._extent.dtypes, len(every)))
        for dtype in chosen:
            yield from itertools.islice(self._calls(operator, dtype), self._extent.calls)
        yield from itertools.islice(self._samples.errors(operator, self._extent.seed), 4 * self._extent.calls)

    def _pool(self, operator: str) -> Iterator[Call]:
        for dtype in _POOL_DTYPES[: self._extent.dtypes // 2]:
            for call in itertools.islice(self._calls(operator, dtype), min(_POOL // 4, self._extent.calls)):
                if sum(tensor.numel() for tensor in call.tensors) <= _POOL_ELEMENTS:
                    yield call

    def _calls(self, operator: str, dtype: torch.dtype) -> Iterator[Call]:
        return itertools.chain(given.calls(operator, dtype), self._samples.calls(operator, dtype, self._extent.seed))
