"""The whole content of a program: the values, instructions, memory plan and constants of each method.

The names are those of ExecuTorch's program.fbs, whose comments describe the format.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Place(NamedTuple):
    """A place in planned memory.

    Attributes:
        memory: the number of the planned memory, from 1.
        offset: the offset in the memory, in bytes.
    """

    memory: int
    offset: int


class Layout(NamedTuple):
    """The layout of a tensor's elements.

    Attributes:
        dtype: the number of the dtype.
        sizes: the sizes.
        dim_order: the dimensions from the outermost to the innermost.
    """

    dtype: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a method.

    Attributes:
        dtype: the number of the dtype.
        sizes: the sizes; of a tensor with dynamic sizes, the upper bounds.
        dim_order: the dimensions from the outermost to the innermost.
        is_dynamic: whether the method may change the sizes.
        data: the number of the constant; for a tensor with a place, the number of the initial content. 0 if there is
            neither.
        place: the place in planned memory; None if the tensor has none.
        external: the key of a constant in another file; None if there is none.
        name: the name of a mutable buffer, if the export wrote it; otherwise empty.
    """

    dtype: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    is_dynamic: bool
    data: int
    place: Place | None
    external: str | None
    name: str

    @property
    def layout(self) -> Layout:
        return Layout(self.dtype, self.sizes, self.dim_order)

    @property
    def numel(self) -> int:
        return math.prod(self.sizes)

    @property
    def strides(self) -> tuple[int, ...]:
        strides = [1] * len(self.sizes)
        step = 1
        for dimension in reversed(self.dim_order):
            strides[dimension] = step
            step *= max(self.sizes[dimension], 1)
        return tuple(strides)


@dataclass(frozen=True, slots=True)
class List:
    """A list.

    Attributes:
        kind: the kind, as in program.fbs: `IntList`, `DoubleList`, `BoolList`, `TensorList` or `OptionalTensorList`.
        items: of an IntList and of lists of tensors, the indices of the items among the method's values, with -1 for
            None; of other lists, the items.
    """

    kind: str
    items: tuple[int, ...] | tuple[float, ...] | tuple[bool, ...]


Value = Tensor | List | int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction.

    Attributes:
        kind: the kind, as in program.fbs: KernelCall, DelegateCall, MoveCall, JumpFalseCall or FreeCall.
        operator: the full name of the operator of a KernelCall; otherwise empty.
        numbers: of a KernelCall or a DelegateCall, the indices of the arguments and of the results among the method's
            values. Of other kinds, the numbers of the instruction in the order of program.fbs.
    """

    kind: str
    operator: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """A method.

    Attributes:
        name: the name.
        values: the values.
        inputs: the indices of the inputs among the values.
        outputs: the indices of the outputs among the values.
        instructions: the instructions.
        memory_sizes: the sizes of the planned memories, from number 1 on, in bytes.
        backends: the names of the backends to which the method delegates.
    """

    name: str
    values: tuple[Value, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    memory_sizes: tuple[int, ...]
    backends: tuple[str, ...]


class InputDim(NamedTuple):
    """A dimension of an input. `export/lower/size_record.py` describes the attributes."""

    least: int
    most: int
    symbol: int
    factor: int
    offset: int


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a program.

    Attributes:
        plans: the methods.
        constants: the constants by their numbers.
        initial: the initial contents of tensors with a place, by their numbers.
        input_sizes: by method, the dimensions of each input. Methods without dynamic shapes are left out.
    """

    plans: tuple[ExecutionPlan, ...]
    constants: Mapping[int, memoryview]
    initial: Mapping[int, memoryview]
    input_sizes: Mapping[str, tuple[tuple[InputDim, ...], ...]]
