"""The memory of an emulated method: arenas, constants, and tensors that lie in them as planned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from executorch.exir import schema
from executorch.exir.tensor import get_scalar_type

from export.user.dense_tensors import channels_last_order

# Every byte of memory without a value. As a float of any size, this is a large negative number.
POISON = 0xF3
# A larger arena, as for a large bound of a size, begins with zeros, so that only the memory of tensors is used.
_MOST_POISONED = 1 << 28
# Integers of the sizes of all dtypes, with which tensors are compared bit by bit.
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}


@dataclass
class Held:
    """A tensor of a program at run time.

    Attributes:
        dtype: the dtype.
        order: the dim order.
        sizes: the present sizes.
        memory: the bytes of the arena or of the constant.
        offset: the position of the first element in `memory`, in bytes.
        capacity: the bytes that the plan reserves.
        is_static: whether the sizes are fixed.
        is_constant: whether the tensor is a constant of the program.
        shadow: the correct elements, in the same dim order; None before the first write.
        views: all tensors that share the memory as views, with the tensor itself.
        is_stale: whether a write to another one of `views` has replaced the elements.
    """

    dtype: torch.dtype
    order: tuple[int, ...]
    sizes: tuple[int, ...]
    memory: torch.Tensor
    offset: int
    capacity: int
    is_static: bool
    is_constant: bool = False
    shadow: torch.Tensor | None = None
    views: list[Held] = field(default_factory=list)
    is_stale: bool = False

    def begin(self) -> None:
        """Forgets the views of the last run."""
        self.views, self.is_stale = [self], False

    def view(self, base: Held) -> None:
        """Makes the tensor a view of another one, with the present elements of the other one."""
        self.views, self.is_stale = base.views, False
        if not any(one is self for one in self.views):
            self.views.append(self)
        if base.shadow is not None:
            self.shadow = in_order(base.shadow.reshape(-1), self.sizes, self.order)

    def spread(self) -> None:
        """Gives all views the elements of this tensor, which a write has replaced."""
        assert self.shadow is not None
        for one in self.views:
            if one is not self:
                one.is_stale = True
                one.shadow = in_order(self.shadow.reshape(-1), one.sizes, one.order)

    def elements(self) -> torch.Tensor:
        """Returns the tensor in the arena."""
        size = math.prod(self.sizes) * self.dtype.itemsize
        flat = self.memory[self.offset : self.offset + size].view(self.dtype)
        return in_order(flat, self.sizes, self.order)

    def equals_shadow(self) -> bool:
        """Returns whether the arena has the correct elements, bit by bit."""
        assert self.shadow is not None
        bits = _BITS[self.dtype.itemsize]
        return torch.equal(self.elements().view(bits), self.shadow.view(bits)) if self.shadow.numel() else True

    def differing(self) -> torch.Tensor:
        """Returns whether each element in the arena differs from the correct one."""
        assert self.shadow is not None
        bits = _BITS[self.dtype.itemsize]
        return self.elements().contiguous().view(bits) != self.shadow.contiguous().view(bits)


def in_order(flat: torch.Tensor, sizes: Sequence[int], order: Sequence[int]) -> torch.Tensor:
    """Returns a tensor of some sizes whose elements are `flat` in a dim order."""
    return flat.as_strided(tuple(sizes), strides(sizes, order))


def strides(sizes: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Returns the strides of a dense tensor in a dim order, as ExecuTorch's runtime computes them."""
    result, stride = [0] * len(sizes), 1
    for dim in reversed(order):
        result[dim] = stride
        stride *= max(sizes[dim], 1)
    return tuple(result)


def fits(sizes: Sequence[int], order: Sequence[int], wanted: Sequence[int]) -> bool:
    """Returns whether memory in a dim order is in the order `wanted`, too. Dimensions of size 1 have no place."""
    if 0 in sizes:
        return True
    return [dim for dim in order if sizes[dim] != 1] == [dim for dim in wanted if sizes[dim] != 1]


def is_contiguous(held: Held) -> bool:
    """Returns whether the memory of a tensor is contiguous."""
    return fits(held.sizes, held.order, range(len(held.sizes)))


def fits_declared(held: Held, order: str) -> bool:
    """Returns whether a tensor has the order `contiguous` or `channels_last`."""
    if order == "contiguous":
        return is_contiguous(held)
    dims = len(held.sizes)
    return dims in (4, 5) and fits(held.sizes, held.order, channels_last_order(dims))


class Memory:
    """The arenas of a method, and the constants of the program.

    Args:
        program: the emitted program.
        plan: the emitted method.
        initial: the bytes of buffers with initial values, by number.
    """

    def __init__(self, program: schema.Program, plan: schema.ExecutionPlan, initial: Sequence[schema.Buffer]) -> None:
        self._program = program
        self._initial = initial
        self.arenas = [torch.zeros(size, dtype=torch.uint8) for size in plan.non_const_buffer_sizes]
        self._state: list[Held] = []

    def hold(self, tensor: schema.Tensor, *, is_state: bool) -> Held:
        """Returns a tensor of the plan.

        Args:
            tensor: the tensor in the schema.
            is_state: whether the tensor is a buffer that keeps its elements between runs.
        """
        dtype = get_scalar_type(tensor.scalar_type)
        sizes, order = tuple(tensor.sizes), tuple(map(int, tensor.dim_order))
        size = math.prod(sizes) * dtype.itemsize
        is_static = tensor.shape_dynamism == schema.TensorShapeDynamism.STATIC
        place = tensor.allocation_info
        if place is None and tensor.data_buffer_idx > 0:
            memory = _bytes(self._program.constant_buffer[tensor.data_buffer_idx].storage)
            held = Held(dtype, order, sizes, memory, 0, size, is_static, is_constant=True)
            held.shadow = held.elements()
            return held
        if place is None:
            return Held(dtype, order, sizes, torch.full((size,), POISON, dtype=torch.uint8), 0, size, is_static)
        held = Held(dtype, order, sizes, self.arenas[place.memory_id], place.memory_offset, size, is_static)
        if is_state:
            self._state.append(held)
            begin = torch.zeros(size, dtype=torch.uint8)
            if tensor.data_buffer_idx > 0:
                begin = _bytes(self._initial[tensor.data_buffer_idx].storage)
            held.memory[held.offset : held.offset + size] = begin
            held.shadow = held.elements().clone()
        return held

    def poison(self) -> None:
        """Overwrites all memory that no state occupies."""
        kept = [(held, held.memory[held.offset : held.offset + held.capacity].clone()) for held in self._state]
        for arena in self.arenas:
            if arena.numel() <= _MOST_POISONED:
                arena.fill_(POISON)
        for held, elements in kept:
            held.memory[held.offset : held.offset + held.capacity] = elements


def _bytes(storage: bytes) -> torch.Tensor:
    # The emulator never writes to constants, so the tensor may share the memory of the bytes.
    return torch.frombuffer(storage, dtype=torch.uint8) if storage else torch.empty(0, dtype=torch.uint8)
