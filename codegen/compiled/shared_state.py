"""The memory that the methods of a program share.

ExecuTorch's `MemoryPlanningPass(share_mutable_buffers=True)` gives each method two planned memories: one of the method
itself, and one with the mutable buffers of all methods, in which a buffer has the same place in each method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.compiled.findings import uncompilable
from codegen.model.elements import ELEMENTS
from codegen.model.execution_plan import ExecutionPlan, Tensor

# The number that the pass gives the memory.
MEMORY = 2


def size(plans: Sequence[ExecutionPlan], label: str) -> int | None:
    """Returns the size of the memory that the methods share; None if each method has its own memory only.

    Raises:
        InputError: the program does not say whether the methods share the memory.
    """
    sizes = {plan.memory_sizes[1:] for plan in plans}
    if len(plans) < 2 or len(sizes) > 1 or any(len(plan.memory_sizes) != MEMORY for plan in plans):
        return None
    parts = [part for plan in plans for part in _parts(plan)]
    names = {part: name for part, name in parts if name}
    if not parts:
        return None
    if not names:
        raise uncompilable(
            label,
            f"each method has a second planned memory of {plans[0].memory_sizes[1]} bytes, whose tensors have no names",
            "the program was exported with share_mutable_buffers, and does not say which buffers the methods share",
            "export with ExecutorchBackendConfig(emit_mutable_buffer_names=True)",
        )
    is_shared = all(names.get(part) == name for part, name in parts if name) and all(
        any(begin <= part[0] and part[1] <= end for begin, end in names) for part, _ in parts
    )
    return plans[0].memory_sizes[1] if is_shared else None


def _parts(plan: ExecutionPlan) -> Iterator[tuple[tuple[int, int], str]]:
    """Yields the begin, the end and the name of each tensor in the memory."""
    for value in plan.values:
        if isinstance(value, Tensor) and value.place is not None and value.place.memory == MEMORY:
            element = ELEMENTS.get(value.dtype)
            begin = value.place.offset
            yield (begin, begin + value.numel * (element.size if element else 0)), value.name
