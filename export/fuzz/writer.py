"""Writes a module line by line. Each line runs at once on small tensors, so that the next steps know the shapes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional

# The limits of values: the number of elements, and the largest number for a dtype that overflows early.
_MOST_ELEMENTS = 1 << 14
_LARGEST = {torch.float16: 1e3}
_FAR = 1e5


@dataclass(frozen=True)
class Input:
    """An input of the module.

    Attributes:
        kind: `floats`, of the module's dtype; `ids`, integers below `bound`; `positions`, different integers below
            `bound`; `bools`.
        sizes: the sizes in the example.
        bound: the exclusive upper bound of integers.
    """

    kind: str
    sizes: tuple[int, ...]
    bound: int = 0

    def expression(self, dtype: torch.dtype, sizes: tuple[int, ...], special: str = "") -> str:
        """Returns the Python expression of such a tensor.

        Args:
            dtype: the dtype of floats.
            sizes: the sizes.
            special: a Python expression of a number that replaces some of the floats; empty for none.
        """
        if self.kind == "ids":
            return f"torch.randint({self.bound}, {sizes})"
        if self.kind == "positions":
            return f"torch.randperm({self.bound})[: {sizes[0]}]"
        if self.kind == "bools":
            return f"torch.rand({sizes}) > 0.3"
        text = f"torch.randn({sizes})" + ("" if dtype == torch.float32 else f".to({dtype})")
        return f"_with({text}, {special})" if special else text


@dataclass
class Writer:
    """A module that is being written.

    Attributes:
        dtype: the dtype of floats.
        inputs: the inputs, with the names `x0`, `x1`...
        init: the lines of the constructor, which make the layers.
        forward: the lines of forward(). Each line makes or changes a value.
        values: the tensors by name, the latest last.
        layers: the names of the layers that take one tensor.
        tied: the names of embeddings.
    """

    dtype: torch.dtype
    inputs: list[Input] = field(default_factory=list)
    init: list[str] = field(default_factory=list)
    forward: list[str] = field(default_factory=list)
    values: dict[str, torch.Tensor] = field(default_factory=dict)
    layers: list[str] = field(default_factory=list)
    tied: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._names: dict[str, int] = {}
        self._self = nn.Module()
        self._globals = {"torch": torch, "nn": nn, "F": functional, "math": math, "self": self._self}

    @property
    def latest(self) -> str:
        """The name of the latest value."""
        return next(reversed(self.values))

    @property
    def x(self) -> torch.Tensor:
        """The latest value."""
        return self.values[self.latest]

    def input(self, kind: str, *sizes: int, bound: int = 0) -> str:
        """Adds an input. Returns its name."""
        name = f"x{len(self.inputs)}"
        one = Input(kind, sizes, bound)
        tensor: torch.Tensor = eval(one.expression(self.dtype, sizes), {"torch": torch})
        self.inputs.append(one)
        latest = self.latest if self.values else None
        self.values[name] = tensor
        if latest is not None:  # A new input does not become the latest value, unless there is no other.
            self.values[latest] = self.values.pop(latest)
        return name

    def layer(self, expression: str, kind: str = "layer") -> str:
        """Adds a layer, a parameter or another attribute. Returns its name."""
        name = self._name(kind)
        self.make(f"self.{name} = {expression}")
        return f"self.{name}"

    def buffer(self, expression: str, kind: str = "buffer") -> str:
        """Adds a buffer. Returns its name."""
        name = self._name(kind)
        self.make(f'self.register_buffer("{name}", {expression})')
        return f"self.{name}"

    def make(self, line: str) -> None:
        """Adds a line that makes a layer or a buffer."""
        self._run(line)
        self._self.to(self.dtype).eval()
        self.init.append(line)

    def value(self, expression: str) -> str:
        """Adds a value. Returns its name.

        Raises:
            ValueError: the value has too many elements or too large ones.
        """
        name = self._name("y")
        self._run(f"{name} = {expression}")
        tensor = self._globals[name]
        if not isinstance(tensor, torch.Tensor) or tensor.numel() > _MOST_ELEMENTS:
            raise ValueError(f"{expression} is no small tensor")
        largest = _LARGEST.get(self.dtype, _FAR)
        if tensor.is_floating_point() and tensor.numel() and not tensor.abs().amax() < largest:
            raise ValueError(f"{expression} is too large")
        self.forward.append(f"{name} = {expression}")
        self.values[name] = tensor
        return name

    def statement(self, line: str) -> None:
        """Adds a line that changes values or buffers."""
        self._run(line)
        self.forward.append(line)

    def mark(self) -> tuple[int, ...]:
        """Returns the present position in the module, for `back`."""
        return len(self.inputs), len(self.init), len(self.forward), len(self.values), len(self.layers), len(self.tied)

    def back(self, mark: tuple[int, ...]) -> None:
        """Removes all that was added after `mark`, since a step failed."""
        inputs, init, forward, values, layers, tied = mark
        del self.inputs[inputs:], self.init[init:], self.forward[forward:], self.layers[layers:], self.tied[tied:]
        kept = {name for name in self.values if self._is_kept(name)}
        self.values = {name: value for name, value in self.values.items() if name in kept}
        assert len(self.values) == values

    def _is_kept(self, name: str) -> bool:
        if name.startswith("x"):
            return int(name[1:]) < len(self.inputs)
        return any(line.startswith(f"{name} = ") for line in self.forward)

    def _name(self, kind: str) -> str:
        self._names[kind] = self._names.get(kind, -1) + 1
        return f"{kind}{self._names[kind]}"

    def _run(self, line: str) -> None:
        self._globals.update(self.values)
        with torch.no_grad():
            exec(line, self._globals)
