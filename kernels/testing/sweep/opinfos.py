"""Calls from PyTorch's samples (OpInfos), recorded while the samples run."""

import collections
import contextlib
import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy
import torch
from torch.testing._internal.common_methods_invocations import op_db

from kernels.testing.eager import EagerOperator
from kernels.testing.sweep.calls import Call, Names, Overloads, Recorder

_SAMPLES_TO_FIND = 8  # The number of samples of an OpInfo that is enough to find the operators that it calls.
_LARGEST = 1 << 14  # The largest number of elements of a call. Larger calls find no more errors.
_CALLERS = 5  # The number of OpInfos that is enough for different calls of an operator.


class Samples:
    """The calls of a library's operators by OpInfos.

    Args:
      operators: the library's operators.
    """

    def __init__(self, operators: Iterable[EagerOperator]) -> None:
        self._overloads = Overloads(operators)
        self._infos: dict[str, list[Any]] = {}
        callers: dict[str, dict[str, Any]] = collections.defaultdict(dict)
        calls: collections.Counter[str] = collections.Counter()
        for info in op_db:
            dtype = torch.float32 if info.supports_dtype(torch.float32, "cpu") else torch.int64
            called = Names()
            for sample in itertools.islice(_samples(info.sample_inputs, dtype), _SAMPLES_TO_FIND):
                with called:  # Not during the generation of samples, which calls other operators.
                    _run(info, sample)
            found = {name for overload in called.overloads for name in self._overloads.names(overload)}
            calls[info.full_name] = len(found)
            for name in found:
                callers[name][info.full_name] = info
        for name, infos in callers.items():
            # OpInfos that call few other operators come first, because they vary the arguments of this operator.
            self._infos[name] = sorted(infos.values(), key=lambda info: (calls[info.full_name], info.full_name))

    def calls(self, operator: str, dtype: torch.dtype, seed: int) -> Iterator[Call]:
        """Calls of one operator, alternating between the OpInfos that call the operator."""
        infos = self._infos.get(operator, ())[:_CALLERS]
        turns = [self._calls(operator, info, dtype, seed) for info in infos]
        # The first OpInfo is usually that of the operator. Half of the calls are from it.
        yield from _in_turns([turns[0], _in_turns(turns[1:])] if turns else [])

    def errors(self, operator: str, seed: int) -> Iterator[Call]:
        """Calls of one operator from the error inputs of OpInfos, which PyTorch refuses."""
        for info in self._infos.get(operator, ()):
            if info.error_inputs_func is None:
                continue
            recorder = Recorder(self._overloads, operator)
            _seed(seed)
            for sample in _samples(lambda *_, info=info, **__: info.error_inputs("cpu")):
                yield from _record(recorder, info, sample.sample_input)

    def _calls(self, operator: str, info: Any, dtype: torch.dtype, seed: int) -> Iterator[Call]:
        recorder = Recorder(self._overloads, operator)
        generators: list[Callable[..., Any]] = [info.sample_inputs]
        if info.reference_inputs_func is not None:
            generators.append(info.reference_inputs)
        _seed(seed)
        for generator in generators:
            for sample in _samples(generator, dtype):
                for call in _record(recorder, info, sample):
                    if sum(tensor.numel() for tensor in call.tensors) <= _LARGEST:
                        yield call


def _samples(generator: Callable[..., Any], dtype: torch.dtype = torch.float32) -> Iterator[Any]:
    """The samples of `generator` until it fails. Many generators fail for dtypes that PyTorch does not support."""
    with contextlib.suppress(Exception):
        yield from generator("cpu", dtype, requires_grad=False)


def _run(info: Any, sample: Any) -> None:
    with contextlib.suppress(Exception):  # calls that PyTorch refuses are recorded, too
        info(sample.input, *sample.args, **sample.kwargs)


def _record(recorder: Recorder, info: Any, sample: Any) -> list[Call]:
    with recorder:
        _run(info, sample)
    return recorder.take()


def _in_turns(iterators: list[Iterator[Call]]) -> Iterator[Call]:
    while iterators:
        going = []
        for iterator in iterators:
            with contextlib.suppress(StopIteration):
                yield next(iterator)
                going.append(iterator)
        iterators = going


def _seed(seed: int) -> None:
    torch.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
