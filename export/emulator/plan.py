"""Checks the memory plan of an emitted method on all of its paths, without running it.

At each step, the analysis knows for each tensor whether its memory has the tensor's elements on all paths to the step.
A write makes the tensors invalid that overlap with the written one. After a write to a view or to a viewed tensor, the
others of the views hold new elements under an old name: a new view of them is valid, but no operator may read them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from executorch.exir import schema
from executorch.exir.tensor import get_scalar_type

from export.emulator import code as steps
from export.emulator.code import Code, CopyIndex, Delegate, JumpFalse, Kernel, Move, Number, Step, View
from export.emulator.machine import Fault

# The place of a tensor: the number of the arena, the first byte, and the byte after the last one.
_Place = tuple[int, int, int]


def check(code: Code, state: Mapping[int, str]) -> None:
    """Checks a method.

    Args:
        code: the steps of the method.
        state: the names of the buffers that the method writes to, by the index of the value.
    Raises:
        Fault: a tensor lies outside of its arena; on some path, a step reads memory without the tensor's elements; a
            step writes its result over its arguments; or the method ends without the elements of an output or of a
            buffer.
    """
    _Analysis(code, state).run()


class _Analysis:
    def __init__(self, code: Code, state: Mapping[int, str]) -> None:
        self._code = code
        self._state = state
        places = _places(code)
        for value, (arena, _, end) in ((value, place) for value, of in places.items() for place in of):
            size = code.plan.non_const_buffer_sizes[arena]
            if end > size:
                raise Fault(f"the value {value} ends at byte {end} of the arena {arena}, which has {size} bytes")
        self._bits = {value: 1 << number for number, value in enumerate(places)}
        self._overlaps = _overlaps(places)
        self._views = _views(code, self._bits)

    def run(self) -> None:
        entry = 0
        for value in (*self._code.plan.inputs, *self._state):
            entry |= self._bits.get(value, 0)
        # The tensors with valid memory, and of these the tensors that operators may read, before each step.
        before: dict[int, tuple[int, int]] = {0: (entry, entry)}
        waiting = [0]
        while waiting:
            number = waiting.pop()
            memory, fresh = before[number]
            if number == len(self._code.steps):
                self._check_end(memory, fresh)
                continue
            step = self._code.steps[number]
            after = self._after(step, memory, fresh)
            for following in (number + 1, *([step.to] if isinstance(step, JumpFalse) else [])):
                known = before.get(following)
                joined = after if known is None else (known[0] & after[0], known[1] & after[1])
                if joined != known:
                    before[following] = joined
                    waiting.append(following)

    def _check_end(self, memory: int, fresh: int) -> None:
        for value in steps.tensors(self._code.plan, self._code.plan.outputs):
            self._require(fresh, value, None, "an output of the method")
        # A method may write to a buffer through a view.
        for value, name in self._state.items():
            self._require(memory, value, None, f"the buffer {name}")

    def _require(self, valid: int, value: int, step: Step | None, what: str) -> None:
        bit = self._bits.get(value, 0)
        if bit and not valid & bit:
            raise Fault(f"{what} lies in memory that is not written before, or overwritten before the read", step)

    def _after(self, step: Step, memory: int, fresh: int) -> tuple[int, int]:
        """Returns the valid tensors after a step."""
        for value in steps.tensors(self._code.plan, _read(step)):
            self._require(fresh, value, step, f"an argument of {_name(step)}")
        if isinstance(step, View):
            base, result = self._bits.get(step.base, -1), self._bits.get(step.result, 0)
            is_valid = base == -1 or bool(memory & base)
            return (memory | result, fresh | result) if is_valid else (memory & ~result, fresh & ~result)
        if isinstance(step, Move):
            source, target = self._bits.get(step.source, -1), self._bits.get(step.target, 0)
            is_valid = source == -1 or bool(fresh & source)
            return (memory | target, fresh | target) if is_valid else (memory & ~target, fresh & ~target)
        if isinstance(step, Kernel):
            self._check_arguments(step)
            for value in step.written:
                kept = self._views.get(value, 0) & memory
                lost = self._overlaps.get(value, 0)
                bit = self._bits.get(value, 0)
                memory, fresh = memory & ~(lost & ~kept) | bit, fresh & ~lost | bit
        for value in steps.tensors(self._code.plan, _results(step)):
            lost, bit = self._overlaps.get(value, 0), self._bits.get(value, 0)
            memory, fresh = memory & ~lost | bit, fresh & ~lost | bit
        return memory, fresh

    def _check_arguments(self, step: Kernel) -> None:
        """Checks that no result lies over an argument, which the kernel may read after writing a part of the result."""
        for out in steps.tensors(self._code.plan, step.outs):
            for value in steps.tensors(self._code.plan, step.inputs):
                if self._overlaps.get(out, 0) & self._bits.get(value, 0):
                    raise Fault(f"the result of {step.operator.name} lies in the memory of an argument", step)


def _read(step: Step) -> Sequence[int]:
    """Returns the values that a step reads."""
    if isinstance(step, Kernel):
        # `copy_` replaces all elements of its first argument.
        return step.inputs[1:] if step.operator.name == steps.COPY else step.inputs
    if isinstance(step, Delegate | Number):
        return step.inputs
    if isinstance(step, JumpFalse):
        return (step.condition,)
    return (step.source,) if isinstance(step, CopyIndex) else ()


def _results(step: Step) -> Sequence[int]:
    """Returns the values whose elements a step gives. The elements before are lost."""
    if isinstance(step, Kernel | Delegate):
        return step.outs
    return (step.target,) if isinstance(step, CopyIndex) else ()


def _name(step: Step) -> str:
    if isinstance(step, Kernel):
        return step.operator.name
    return step.module.backend_id if isinstance(step, Delegate) else "a step"


def _places(code: Code) -> Mapping[int, Sequence[_Place]]:
    """Returns the places of each planned tensor. The target of moves has the places of all sources."""
    places: dict[int, list[_Place]] = {}
    for index, value in enumerate(code.plan.values):
        tensor = value.val
        if isinstance(tensor, schema.Tensor) and tensor.allocation_info is not None:
            size = math.prod(tensor.sizes) * get_scalar_type(tensor.scalar_type).itemsize
            begin = tensor.allocation_info.memory_offset
            places[index] = [(tensor.allocation_info.memory_id, begin, begin + size)]
    targets = defaultdict(list)
    for step in code.steps:
        if isinstance(step, Move) and step.target in places:
            targets[step.target].append(step.source)
    # A source may itself be the target of moves, in an inner branch, which comes first.
    for target, sources in targets.items():
        places[target] = [place for source in sources for place in places.get(source, ())]
    return places


def _overlaps(places: Mapping[int, Sequence[_Place]]) -> Mapping[int, int]:
    """Returns for each tensor a set of bits: all other tensors that share a byte with the tensor."""
    rows = [(number, *place) for number, of in enumerate(places.values()) for place in of]
    if not rows:
        return {}
    owners, arenas, begins, ends = np.array(rows, dtype=np.int64).T
    overlaps = {}
    for number, (value, of) in enumerate(places.items()):
        found = np.zeros(len(places), dtype=bool)
        for arena, begin, end in of:
            found[owners[(arenas == arena) & (begins < end) & (ends > begin)]] = begin < end
        found[number] = False
        overlaps[value] = int.from_bytes(np.packbits(found, bitorder="little").tobytes(), "little")
    return overlaps


def _views(code: Code, bits: Mapping[int, int]) -> Mapping[int, int]:
    """Returns for each tensor a set of bits: the tensors that are views of the same tensor."""
    sets: dict[int, set[int]] = {}
    for step in code.steps:
        if isinstance(step, View):
            joined = sets.get(step.base, {step.base}) | sets.get(step.result, {step.result})
            sets.update((value, joined) for value in joined)
    return {value: sum(bits.get(one, 0) for one in of) for value, of in sets.items()}
