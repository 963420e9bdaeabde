"""Writes a module line by line. Each line runs at once on small tensors, so that the next steps know the shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import flex_attention
from torch.nn.utils import prune

# The limits of values: the number of elements, and the largest number for a dtype that overflows early.
_MOST_ELEMENTS = 1 << 14
_LARGEST = {torch.float16: 1e3}
_FAR = 1e5
# The orders in memory of inputs, besides the contiguous one: the least number of dimensions, and the end of the
# expression that makes such a tensor of a contiguous one.
_LAYOUTS = {
    "channels_last": (4, ".to(memory_format=torch.channels_last)"),
    "permuted": (2, ".transpose(0, -1).contiguous().transpose(0, -1)"),
    "transposed": (2, ".mT.contiguous().mT"),
    "strided": (1, ".repeat_interleave(2, -1)[..., ::2]"),
    "expanded": (1, "[:1].expand({sizes})"),
}
LAYOUTS = ("", *_LAYOUTS)
# The sizes of an input that a step adds, by the number of dimensions.
_SIZES = {3: (2, 5, 16), 4: (2, 8, 8, 8)}


@dataclass(frozen=True)
class Input:
    """An input of the module.

    Attributes:
        kind: `floats`, of the module's dtype; `ids`, integers below `bound`; `positions`, different integers below
            `bound`; `bools`.
        sizes: the sizes in the example.
        bound: the exclusive upper bound of integers.
        layout: the order in memory of floats and bools in the example and in all samples, one of `LAYOUTS`.
    """

    kind: str
    sizes: tuple[int, ...]
    bound: int = 0
    layout: str = ""

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
            return f"(torch.rand({sizes}) > 0.3){self._laid_out(sizes)}"
        text = f"torch.randn({sizes})" + ("" if dtype == torch.float32 else f".to({dtype})")
        return (f"_with({text}, {special})" if special else text) + self._laid_out(sizes)

    def _laid_out(self, sizes: tuple[int, ...]) -> str:
        """Returns the end of the expression, which changes the order in memory."""
        return _LAYOUTS[self.layout][1].format(sizes=sizes) if self.layout else ""


def fitting(layout: str, sizes: tuple[int, ...]) -> str:
    """Returns the layout if a tensor of these sizes can have it, otherwise an empty string, for the contiguous one."""
    rank = len(sizes)
    if not layout or rank < _LAYOUTS[layout][0] or 0 in sizes or (layout == "channels_last" and rank > 4):
        return ""
    return layout


def _are_alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return (one.shape, one.dtype, one.stride()) == (other.shape, other.dtype, other.stride())


def _cond(is_true: torch.Tensor, of_true: Callable[..., Any], of_false: Callable[..., Any], operands: Any) -> Any:
    """Does what torch.cond does, without a compiler.

    Raises:
        ValueError: the branches do not give the same kind of tensor.
    """
    given = [branch(*operands) for branch in (of_true, of_false)]
    one, other = ([one] if isinstance(one, torch.Tensor) else one for one in given)
    for of_one, of_other in zip(one, other, strict=True):
        if not _are_alike(of_one, of_other):
            raise ValueError("the branches differ")
    return given[0 if bool(is_true) else 1]


def _map_rows(function: Callable[..., torch.Tensor], rows: torch.Tensor, *operands: torch.Tensor) -> torch.Tensor:
    """Does what PyTorch's map does, without a compiler."""
    return torch.stack([function(row, *operands) for row in rows.unbind()])


def _scan(
    function: Callable[..., Any], carry: torch.Tensor, rows: torch.Tensor, *, dim: int = 0, reverse: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Does what PyTorch's scan does, without a compiler.

    Raises:
        ValueError: the function gives another kind of tensor than it takes.
    """
    given = []
    for row in rows.unbind(dim)[:: -1 if reverse else 1]:
        before = carry
        carry, one = function(before, row)
        if not _are_alike(before, carry):
            raise ValueError("the carries differ")
        given.append(one)
    return carry, torch.stack(given[:: -1 if reverse else 1])


def _flex_attention(*args: Any, **kwargs: Any) -> torch.Tensor:
    """Does what flex_attention does, without a compiler."""
    with mock.patch.object(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True):
        result: torch.Tensor = flex_attention.flex_attention(*args, **kwargs)
    return result


@dataclass
class Writer:
    """A module that is being written.

    Attributes:
        dtype: the dtype of floats.
        layout: the layout of inputs that can have it, one of `LAYOUTS`.
        is_channels_last: whether weights and buffers of 4 dimensions are channels-last.
        inputs: the inputs, with the names `x0`, `x1`...
        init: the lines of the constructor, which make the layers.
        forward: the lines of forward(). Each line makes or changes a value.
        values: the tensors by name, the latest last.
        layers: the names of the layers that take one tensor.
        tied: the names of embeddings.
        gives: the names of values that the module must return.
    """

    dtype: torch.dtype
    layout: str = ""
    is_channels_last: bool = False
    inputs: list[Input] = field(default_factory=list)
    init: list[str] = field(default_factory=list)
    forward: list[str] = field(default_factory=list)
    values: dict[str, torch.Tensor] = field(default_factory=dict)
    layers: list[str] = field(default_factory=list)
    tied: list[str] = field(default_factory=list)
    gives: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._names: dict[str, int] = {}
        self._self = nn.Module()
        self._globals: dict[str, Any] = {
            **{"torch": torch, "nn": nn, "F": functional, "math": math, "self": self._self},
            **{"cond": _cond, "map_rows": _map_rows, "scan": _scan, "prune": prune},
            **{"flex_attention": _flex_attention, "create_block_mask": flex_attention.create_block_mask},
        }

    @property
    def latest(self) -> str:
        """The name of the latest value."""
        return next(reversed(self.values))

    @property
    def x(self) -> torch.Tensor:
        """The latest value."""
        return self.values[self.latest]

    def input(self, kind: str, *sizes: int, bound: int = 0, layout: str = "") -> str:
        """Adds an input. Returns its name.

        Args:
            kind: the kind of `Input`.
            *sizes: the sizes.
            bound: the exclusive upper bound of integers.
            layout: the layout, if the input can have it; empty for the layout of the module's inputs.
        """
        name = f"x{len(self.inputs)}"
        one = Input(kind, sizes, bound, fitting(layout or self.layout, sizes) if kind in ("floats", "bools") else "")
        tensor: torch.Tensor = eval(one.expression(self.dtype, sizes), {"torch": torch})
        self.inputs.append(one)
        latest = self.latest if self.values else None
        self.values[name] = tensor
        if latest is not None:  # A new input does not become the latest value, unless there is no other.
            self.values[latest] = self.values.pop(latest)
        return name

    def use(self, rank: int) -> str:
        """Makes the latest value that has a number of dimensions the latest value. Adds an input if there is none.

        Returns:
            The name.
        """
        names = [
            name
            for name, value in self.values.items()
            if value.dim() == rank and value.numel() and value.is_floating_point()
        ]
        name = names[-1] if names else self.input("floats", *_SIZES[rank])
        self.values[name] = self.values.pop(name)
        return name

    def check_floats(self) -> None:
        """Checks that the latest value has dimensions, elements and floats.

        Raises:
            ValueError: it does not.
        """
        if not self.x.dim() or not self.x.numel() or not self.x.is_floating_point():
            raise ValueError("no floats")

    def masked(self, expression: str) -> str:
        """Returns an expression with a new bool input of the latest value's sizes in place of `MASK`."""
        return expression.replace("MASK", self.input("bools", *self.x.shape)) if "MASK" in expression else expression

    def images(self) -> tuple[int, int, int, int]:
        """Makes images [batch, channels, height, width] the latest value. Returns their sizes."""
        n, c, height, width = self.values[self.use(4)].shape
        return n, c, height, width

    def layer(self, expression: str, kind: str = "layer") -> str:
        """Adds a layer, a parameter or another attribute. Returns its name."""
        name = self._name(kind)
        self.make(f"self.{name} = {expression}")
        return f"self.{name}"

    def buffer(self, expression: str, kind: str = "buffer", *, owner: str = "") -> str:
        """Adds a buffer to a submodule, or to the module itself. Returns its name."""
        name, owner = self._name(kind), owner or "self"
        self.make(f'{owner}.register_buffer("{name}", {expression})')
        return f"{owner}.{name}"

    def make(self, line: str) -> None:
        """Adds a line that makes a layer or a buffer."""
        self._run(line)
        self._self.to(self.dtype).eval()
        if any(tensor.dim() == 5 for tensor in self._self.state_dict().values()):
            self.is_channels_last = False  # PyTorch refuses to convert such modules.
        if self.is_channels_last:
            self._self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # PyTorch's stub lacks it.
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

    def function(self, takes: str, *lines: str) -> str:
        """Adds a function inside forward() with these arguments and lines. Returns its name."""
        name = self._name("function")
        self.statement("\n    ".join([f"def {name}({takes}):", *lines]))
        return name

    def pair(self, expression: str) -> tuple[str, str]:
        """Adds the two values of an expression that gives a tuple. Returns their names."""
        name = self._name("pair")
        self.statement(f"{name} = {expression}")
        return self.value(f"{name}[0]"), self.value(f"{name}[1]")

    def mark(self) -> tuple[int, ...]:
        """Returns the present position in the module, for `back`."""
        return len(self.values), *map(len, self._lists())

    def back(self, mark: tuple[int, ...]) -> None:
        """Removes all that was added after `mark`, since a step failed."""
        count, *lengths = mark
        for one, length in zip(self._lists(), lengths, strict=True):
            del one[length:]
        self.values = {name: value for name, value in self.values.items() if self._is_kept(name)}
        assert len(self.values) == count

    def _lists(self) -> tuple[list[Any], ...]:
        return self.inputs, self.init, self.forward, self.layers, self.tied, self.gives

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
