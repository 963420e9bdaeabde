"""The report of the memory that a compiled program needs, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.compiled import interface
from codegen.compiled.files import Program
from codegen.compiled.method import CONSTANTS, Method
from codegen.model.execution_plan import Tensor


def text(program: Program, label: str) -> str:
    """Returns the report."""
    lines = [f"Memory of {label} in bytes"]
    for method in program.methods:
        lines += ["", f"Method {method.title}", *_method(method)]
        scratch_bytes = program.scratch_bytes[method.class_name]
        lines += [f"  scratch memory  {scratch_bytes:,}"] if scratch_bytes is not None else []
    if program.shared_bytes is not None:
        lines += ["", f"State that the methods share  {program.shared_bytes:,}"]
    lines += ["", f"Constants of all methods  {len(program.constants.content()):,}"]
    return "\n".join(lines) + "\n"


def _method(method: Method) -> Iterator[str]:
    sizes = method.own_memories
    yield f"  planned memory  {sum(sizes):,}"
    if len(sizes) > 1:
        yield from (f"    planned{i}  {size:,}" for i, size in enumerate(sizes, 1))
    state = [index for index in method.state() if not method.is_shared(index)]
    yield f"  state, a part of the planned memory  {sum(map(method.nbytes, state)):,}"
    yield from _interface(method, "input", method.plan.inputs)
    yield from _interface(method, "output", list(map(method.resolved, method.plan.outputs)))


def _interface(method: Method, kind: str, indices: Sequence[int]) -> Iterator[str]:
    for i, index in enumerate(indices):
        if not isinstance(method.plan.values[index], Tensor):
            continue
        yield f"  {kind}{i}  {interface.shape(method, index)}  {method.nbytes(index):,}  {_where(method, index)}"


def _where(method: Method, index: int) -> str:
    if index in method.moved:
        return "in the memory of a branch"
    place = method.place(index)
    if place.memory == CONSTANTS:
        return "in the constants"
    if index in method.set_by_caller:
        return "memory of the application"
    memory = "the shared state" if method.is_shared(index) else f"planned{place.memory}"
    return f"in {memory} at {place.offset:,}"
