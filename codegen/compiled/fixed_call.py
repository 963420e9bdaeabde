"""A call whose tensors have fixed sizes, for kernels that know all sizes when the code is generated."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from typing import NamedTuple

from codegen.compiled.method import CONSTANTS, Method
from codegen.model.execution_plan import Instruction, List, Tensor
from codegen.model.operators import Operator

# Parameters whose names are no names of loops' variables. Schemas have words of C++ in other places only.
_POSSIBLE = re.compile(r"[a-z]\w+")
# The bound of sizes and strides in the kernels.
_MOST = 2**31 - 1


class GeneralCallError(Exception):
    """The call needs its general kernel."""


def require(condition: bool) -> None:
    """Raises GeneralCallError unless `condition` is true."""
    if not condition:
        raise GeneralCallError


class Operand(NamedTuple):
    """A tensor of a call.

    Attributes:
        name: the name of the C++ variable, a pointer to the elements.
        dtype: the dtype in PyTorch's spelling.
        cpp: the C++ type of an element.
        sizes: the sizes.
        strides: the strides in elements.
    """

    name: str
    dtype: str
    cpp: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def numel(self) -> int:
        return math.prod(self.sizes)

    @property
    def is_contiguous(self) -> bool:
        step = 1
        for size, stride in zip(reversed(self.sizes), reversed(self.strides), strict=True):
            if size != 1 and stride != step:
                return False
            step *= size
        return True


class FixedCall:
    """The arguments of a call, and the C++ variables that the call needs.

    Methods raise GeneralCallError if an argument has no fixed value.

    Attributes:
        method: the method of the call.
        declarations: the declarations of the variables so far.
        name: the operator's full name.
    """

    def __init__(self, method: Method, operator: Operator, instruction: Instruction) -> None:
        self.method = method
        self.name = operator.name
        self.declarations = ""
        self._arguments = {
            argument.name: (argument, index)
            for argument, index in zip(operator.schema.arguments, instruction.numbers, strict=False)
        }
        self._declared: dict[int, Operand] = {}

    # Tensors.

    def tensor(self, name: str, dtype: str = "") -> Operand:
        """Returns a tensor, of the dtype if one is given."""
        argument, index = self._arguments[name]
        return self._operand(name, index, argument.is_written, dtype)

    def floats(self, name: str) -> Operand:
        return self.tensor(name, "float32")

    def optional_floats(self, name: str, count: int) -> str:
        """Returns the variable of an optional tensor of `count` floats, or `nullptr`."""
        return "nullptr" if self.is_absent(name) else self.line(name, count)

    def line(self, name: str, count: int, dtype: str = "float32") -> str:
        """Returns the variable of a contiguous tensor of `count` elements."""
        operand = self.tensor(name, dtype)
        require(operand.is_contiguous and operand.numel == count)
        return operand.name

    def is_absent(self, name: str) -> bool:
        """Whether an optional argument is None."""
        return self._value(name) is None

    def tensors(self, name: str) -> list[Operand]:
        value = self._value(name)
        assert isinstance(value, List), f"{self.name} has no list {name}"
        return [self._operand(name, int(item), is_written=False, dtype="") for item in value.items]

    def has(self, name: str) -> bool:
        """Whether the operator has a parameter of this name."""
        return name in self._arguments

    def is_read(self, name: str) -> bool:
        """Whether the program uses a result."""
        return self.method.resolved(self._arguments[name][1]) in self.method.read

    def _operand(self, name: str, index: int, is_written: bool, dtype: str) -> Operand:
        method = self.method
        index = method.resolved(index)
        value = method.plan.values[index]
        require(isinstance(value, Tensor) and index not in method.dynamic and index not in method.moved)
        require(index not in method.numbers)
        tensor = method.tensor(index)
        element = method.element(index)
        require(element.name == dtype if dtype else not element.is_complex)
        require(0 < tensor.numel <= _MOST)
        if index in self._declared:
            # A result in the memory of an argument needs a variable of its own to write through.
            require(not is_written)
            return self._declared[index]
        place = method.place(index)
        name = self._free(name)
        const = "" if is_written else "const "
        require(not is_written or place.memory != CONSTANTS)
        self.declarations += (
            f"    {const}auto* const {name} = reinterpret_cast<{const}{element.cpp}*>"
            f"(memories_[{place.memory}] + {place.offset});\n"
        )
        operand = Operand(name, element.name, element.cpp, tensor.sizes, tensor.strides)
        self._declared[index] = operand
        return operand

    def _free(self, name: str) -> str:
        """Returns the name of a new variable."""
        taken = {operand.name for operand in self._declared.values()}
        candidates = [name if _POSSIBLE.fullmatch(name) else f"{name}_", *(f"{name}{i}" for i in range(len(taken) + 1))]
        return next(candidate for candidate in candidates if candidate not in taken)

    # Numbers and texts.

    def _value(self, name: str) -> object:
        index = self._arguments[name][1]
        require(self.method.resolved(index) not in self.method.numbers)
        return self.method.plan.values[index]

    def number(self, name: str) -> int | float:
        value = self._value(name)
        require(isinstance(value, (int, float)))
        assert isinstance(value, (int, float))
        return value

    def optional_number(self, name: str) -> int | float | None:
        return None if self._value(name) is None else self.number(name)

    def integer(self, name: str) -> int:
        value = self.number(name)
        require(isinstance(value, int))
        return int(value)

    def text(self, name: str) -> str:
        value = self._value(name)
        require(isinstance(value, str))
        return str(value)

    def integers(self, name: str) -> list[int]:
        """Returns a list of integers; of an absent list, an empty list."""
        value = self._value(name)
        if value is None:
            return []
        assert isinstance(value, List), f"{self.name} has no list {name}"
        if value.kind != "IntList":
            return [int(item) for item in value.items]
        items = [self.method.plan.values[int(item)] for item in value.items]
        require(
            all(
                isinstance(item, int) and int(index) not in self.method.numbers
                for item, index in zip(items, value.items, strict=True)
            )
        )
        return [item for item in items if isinstance(item, int)]


def axis(dimension: int, rank: int) -> int:
    """Returns a dimension counted from the front."""
    require(-rank <= dimension < rank)
    return dimension % rank


def float_literal(value: float) -> str:
    """Returns the C++ literal of a number as a float."""
    require(not math.isnan(value))
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}std::numeric_limits<float>::infinity()"
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        raise GeneralCallError from None
    return f"{rounded!r}f"


def pair(numbers: Sequence[int], default: Sequence[int] = ()) -> tuple[int, int]:
    """Returns an argument for rows and columns, of which one number may be left out."""
    numbers = numbers or default
    require(len(numbers) in (1, 2))
    return numbers[0], numbers[-1]
