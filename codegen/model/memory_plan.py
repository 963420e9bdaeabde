"""Which bytes of a method's planned memory are in use at each instruction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codegen.model import elements
from codegen.model.execution_plan import ExecutionPlan, Instruction, List, Place, Tensor

# Replaces all elements of its first argument, and reads none.
_OVERWRITES = "aten::copy_"


@dataclass(frozen=True, slots=True)
class Use:
    """A place in planned memory with one content, which several tensors may share: views, and results in place.

    Attributes:
        value: the index of the first of these tensors among the method's values.
        place: the place.
        bytes: the size in bytes; with dynamic shapes, the largest.
        first: the number of the first instruction that needs the place.
        last: the number of the last one.
    """

    value: int
    place: Place
    bytes: int
    first: int
    last: int


def nbytes(tensor: Tensor) -> int:
    """Returns the size of a tensor in bytes; with dynamic shapes, the largest."""
    return tensor.numel * elements.name_and_size(tensor.dtype)[1]


def state(plan: ExecutionPlan) -> set[int]:
    """Returns the tensors that keep their content between runs.

    These are mutable buffers with a name or an initial content, and tensors that an instruction reads before another
    one writes them: zeros at the beginning of the first run are not in the program. Parts of memory are compared, since
    a view shares the memory of a tensor.
    """
    found: set[int] = set()
    known: list[tuple[Place, int]] = []

    def add(value: int) -> None:
        tensor = plan.values[value]
        if isinstance(tensor, Tensor) and tensor.place is not None:
            known.append((tensor.place, nbytes(tensor)))

    for value, tensor in enumerate(plan.values):
        if isinstance(tensor, Tensor) and tensor.place is not None and (tensor.name or tensor.data):
            found.add(value)
            add(value)
    for value in _tensors(plan, plan.inputs):
        add(value)
    for instruction in plan.instructions:
        read, written = _accesses(plan, instruction)
        for value in read:
            tensor = plan.values[value]
            assert isinstance(tensor, Tensor)
            if tensor.place is not None and not any(_overlap(tensor, each) for each in known):
                found.add(value)
                add(value)
        for value in written:
            add(value)
    return found


def _accesses(plan: ExecutionPlan, instruction: Instruction) -> tuple[list[int], list[int]]:
    """Returns the tensors that an instruction reads, and those to which the instruction writes.

    The last value of a call is the result: the tensor of `out`, or the argument that an operator changes in place.
    """
    if not instruction.numbers or instruction.kind == "DelegateCall":
        # Which arguments of a delegate are results is not in the program.
        return [], list(named(plan, instruction))
    if instruction.kind != "KernelCall":
        return [], list(_tensors(plan, instruction.numbers[1:2])) if instruction.kind == "MoveCall" else []
    written = list(_tensors(plan, instruction.numbers[-1:]))
    first, *others = instruction.numbers
    is_changed = bool(others) and first in written and instruction.operator != _OVERWRITES
    read = [value for value in named(plan, instruction) if value not in written or is_changed]
    return read, written


def _overlap(tensor: Tensor, other: tuple[Place, int]) -> bool:
    place, size = other
    assert tensor.place is not None
    begin = max(tensor.place.offset, place.offset)
    end = min(tensor.place.offset + nbytes(tensor), place.offset + size)
    return tensor.place.memory == place.memory and begin < end


def uses(plan: ExecutionPlan) -> tuple[Use, ...]:
    """Returns the uses of planned memory, sorted by the first instruction.

    A program does not say which arguments a call writes. A place counts as in use from the first to the last
    instruction that names a tensor there.
    """
    if not plan.instructions:
        return ()
    spans = _spans(plan)
    of_place: dict[tuple[Place, int], list[Use]] = {}
    for value, (first, last) in sorted(spans.items(), key=lambda entry: entry[1]):
        tensor = plan.values[value]
        if not isinstance(tensor, Tensor) or tensor.place is None or not nbytes(tensor):
            continue
        known = of_place.setdefault((tensor.place, nbytes(tensor)), [])
        if known and first <= known[-1].last:
            known[-1] = replace(known[-1], last=max(known[-1].last, last))
        else:
            known.append(Use(value, tensor.place, nbytes(tensor), first, last))
    found = [use for of in of_place.values() for use in of]
    return tuple(sorted(found, key=lambda use: (use.first, use.place)))


def bytes_in_use(found: Sequence[Use], instructions: int) -> list[int]:
    """Returns the bytes in use at each instruction. Bytes that several tensors share count once."""
    at: list[list[Use]] = [[] for _ in range(instructions)]
    for use in found:
        for number in range(use.first, use.last + 1):
            at[number].append(use)
    return [_united(of) for of in at]


def _united(found: Iterable[Use]) -> int:
    """Returns the number of bytes in at least one of the places."""
    total, memory, end = 0, 0, 0
    for use in sorted(found, key=lambda use: use.place):
        if use.place.memory != memory:
            memory, end = use.place.memory, 0
        total += max(use.place.offset + use.bytes - max(end, use.place.offset), 0)
        end = max(end, use.place.offset + use.bytes)
    return total


def _spans(plan: ExecutionPlan) -> dict[int, tuple[int, int]]:
    """Returns for each tensor with memory of its own the first and the last instruction that need its content."""
    end = len(plan.instructions) - 1
    spans: dict[int, tuple[int, int]] = {}

    def mention(value: int, number: int) -> None:
        first, last = spans.get(value, (number, number))
        spans[value] = (min(first, number), max(last, number))

    for number, instruction in enumerate(plan.instructions):
        for value in named(plan, instruction):
            mention(value, number)
    for value in _tensors(plan, plan.inputs):
        mention(value, 0)
    for value in _tensors(plan, plan.outputs):
        mention(value, end)
    spans.update((value, (0, end)) for value in state(plan))
    _extend_over_loops(plan, spans)
    # After a move, the target is the source's memory. A source may itself be the target of an earlier move.
    for instruction in reversed(plan.instructions):
        if instruction.kind == "MoveCall":
            source, target = instruction.numbers
            if source in spans and target in spans:
                spans[source] = (spans[source][0], max(spans[source][1], spans[target][1]))
    for instruction in plan.instructions:
        if instruction.kind == "MoveCall":
            spans.pop(instruction.numbers[1], None)
    return spans


def _extend_over_loops(plan: ExecutionPlan, spans: dict[int, tuple[int, int]]) -> None:
    """Extends the spans of tensors from before a loop to the loop's end, if the loop needs them."""
    for number, instruction in enumerate(plan.instructions):
        target = instruction.numbers[-1] if instruction.kind == "JumpFalseCall" else number
        if target < number:
            for value, (first, last) in spans.items():
                if first < target <= last < number:
                    spans[value] = (first, number)


def named(plan: ExecutionPlan, instruction: Instruction) -> Iterator[int]:
    """Yields the tensors that an instruction names. The release of a tensor needs no content."""
    if instruction.kind == "JumpFalseCall":
        yield from _tensors(plan, instruction.numbers[:1])
    elif instruction.kind != "FreeCall":
        yield from _tensors(plan, instruction.numbers)


def _tensors(plan: ExecutionPlan, values: Iterable[int]) -> Iterator[int]:
    """Yields those values that are tensors, and the tensors in those that are lists."""
    for value in values:
        given = plan.values[value] if value >= 0 else None
        if isinstance(given, Tensor):
            yield value
        elif isinstance(given, List) and given.kind in ("TensorList", "OptionalTensorList"):
            yield from _tensors(plan, map(int, given.items))
