"""Draws further inputs for a method from the elements of its samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from export.graph_passes import graphs
from export.patches import condition_places
from export.patches.condition_places import Condition
from export.user import asked_sizes
from export.user.inputs import Inputs
from export.user.model_file import Method

# A size: a number, or an expression of symbols, of SymPy.
_Expression = Any
# The most inputs of sizes that a condition of the trace excludes, and the sizes on each side that are looked at for it.
_MOST_EXCLUDED = 4
_MOST_SIZES = 64


def drawn(method: Method, seed: int, count: int) -> Iterator[Inputs]:
    """Yields inputs of the shapes, dtypes and bounds of the samples, always the same ones.

    The first ones are those of the last sample, so that state matters also if the method has one sample only. In the
    `count` others, the elements of each tensor are in another order. So integers stay in their range, and different
    positions stay different.
    """
    yield method.samples[-1]
    generator = torch.Generator().manual_seed(seed)
    for number in range(count):
        given = method.samples[number % len(method.samples)]
        yield given.with_tensors(lambda tensor: _mixed(tensor, generator))


@dataclass(frozen=True)
class Resized:
    """Inputs of other sizes than the example inputs of the export have.

    Attributes:
        inputs: the inputs.
        least: the smallest possible size of a dimension of which the inputs have a smaller one; None if there is none.
        excluded_by: a condition of the trace that does not hold for the sizes; None if there is none.
    """

    inputs: Inputs
    least: int | None
    excluded_by: Condition | None


def of_other_sizes(method: Method, program: ExportedProgram, seed: int) -> Iterator[Resized]:
    """Yields inputs of sizes that the first sample does not have, for dynamic shapes.

    These are smaller and larger sizes, the smallest ones that the user asks for, and ones that the user asks for and
    torch.export excludes: as smaller ones, or by a condition, such as that of `if n % 2 == 0:`. An element of a tensor
    is one of those of the sample. Integers that count up, as positions do, count on. The inputs of the program have
    symbolic sizes.
    """
    shapes = _shapes(program)
    leaves, spec = method.samples[0].flatten()
    if len(shapes) != len(leaves):
        return
    symbols = _symbols(method, program, shapes, leaves)
    generator = torch.Generator().manual_seed(seed)
    seen = [{symbol: size.known for symbol, size in symbols.items()}]
    chosen = [
        {symbol: choice(size) for symbol, size in symbols.items()}
        for choice in (_Size.smaller, _Size.larger, _Size.smallest, _Size.excluded)
    ]
    # After an excluded smaller size, the check may end.
    conditions = condition_places.conditions(program)
    excluded = itertools.islice(_excluded(conditions, symbols), _MOST_EXCLUDED)
    for sizes in itertools.chain(chosen[:-1], excluded, chosen[-1:]):
        if sizes not in seen:
            seen.append(sizes)
            changed = [_resized(leaf, shape, sizes, generator) for leaf, shape in zip(leaves, shapes, strict=True)]
            yield Resized(Inputs(*pytree.tree_unflatten(changed, spec)), *_limits(conditions, symbols, sizes))


def resized(method: Method, program: ExportedProgram, given: Inputs) -> Resized:
    """Returns inputs of the user, of other sizes than the example inputs have."""
    shapes, (leaves, _) = _shapes(program), given.flatten()
    if len(shapes) != len(leaves):
        return Resized(given, None, None)
    symbols = _symbols(method, program, shapes, leaves)
    sizes = {symbol: size.known for symbol, size in symbols.items()}
    return Resized(given, *_limits(condition_places.conditions(program), symbols, sizes))


def _limits(
    conditions: Sequence[Condition], symbols: Mapping[_Expression, _Size], sizes: Mapping[_Expression, int]
) -> tuple[int | None, Condition | None]:
    """Returns the least size of a symbol that has a smaller one, and a condition of the trace that does not hold."""
    least = next((size.least for symbol, size in symbols.items() if sizes[symbol] < size.least), None)
    return least, next((one for one in conditions if one.excludes(sizes)), None)


def _excluded(
    conditions: Sequence[Condition], symbols: Mapping[_Expression, _Size]
) -> Iterator[dict[_Expression, int]]:
    """Yields sizes for which a condition of the trace does not hold: for each condition, the next ones to the sample's.

    PyTorch refuses such sizes of torch.export.Dim, but not of Dim.AUTO. Nothing checks them when a program runs.
    """
    known = {symbol: size.known for symbol, size in symbols.items()}
    for condition in conditions:
        if not condition.expression.free_symbols <= symbols.keys():
            continue
        for symbol in sorted(condition.expression.free_symbols, key=str):
            sizes = (known | {symbol: size} for size in _near(symbols[symbol], condition.expression))
            found = next((one for one in sizes if condition.excludes(one)), None)
            if found is not None:
                yield found
                break


def _near(size: _Size, condition: _Expression) -> Iterator[int]:
    """Yields other possible sizes: those around the size in a sample, and the numbers of a condition."""
    # Of larger sizes, more differs.
    yield from range(size.known + 1, min(size.known + _MOST_SIZES, size.most) + 1)
    numbers = {int(one) for one in condition.atoms() if one.is_Integer}
    yield from sorted(number for number in numbers if size.least <= number <= size.most)
    yield from range(size.known - 1, max(size.known - _MOST_SIZES, size.least) - 1, -1)


@dataclass(frozen=True)
class _Size:
    """A size that may change.

    Attributes:
        known: the size in a sample.
        asked: the smallest size that the user asks for.
        least: the smallest size for torch.export.
        most: the largest size.
    """

    known: int
    asked: int
    least: int
    most: int

    def smallest(self) -> int:
        return self.asked

    def excluded(self) -> int:
        return max(self.least - 1, self.asked)

    def smaller(self) -> int:
        return max(self.known - 1, self.least)

    def larger(self) -> int:
        # Odd, as most sizes of examples are not. A large bound would cost too much time.
        return min(2 * self.known + 1, self.most)


def _shapes(program: ExportedProgram) -> Sequence[Sequence[_Expression] | None]:
    """Returns the sizes of each input of the user as expressions; None for inputs that are no tensors."""
    return [
        [graphs.expression(size) for size in value.shape] if isinstance(value, torch.Tensor) else None
        for _, value in graphs.user_inputs(program)
    ]


def _symbols(
    method: Method,
    program: ExportedProgram,
    shapes: Sequence[Sequence[_Expression] | None],
    leaves: Sequence[Any],
) -> dict[_Expression, _Size]:
    """Returns the sizes that may change, by their symbols."""
    symbols: dict[_Expression, _Size] = {}
    for shape, leaf, asked in zip(shapes, leaves, asked_sizes.of(method), strict=True):
        if shape is None or not isinstance(leaf, torch.Tensor):
            continue
        for dim, (one, known) in enumerate(zip(shape, leaf.shape, strict=True)):
            if getattr(one, "is_Symbol", False):
                bounds = program.range_constraints[one]
                least, most = int(bounds.lower), int(bounds.upper)
                # ExecuTorch's Module does not check the lower bound when a program runs.
                smallest = (asked_sizes.least(asked[dim]) or 1) if dim in asked else least
                symbols[one] = _Size(known, smallest, least, most)
    return symbols


def _mixed(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    if tensor.numel() < 2:
        return tensor
    flat = tensor.detach().flatten()[torch.randperm(tensor.numel(), generator=generator)]
    return torch.empty_like(tensor).copy_(flat.view(tensor.shape))


def _resized(
    leaf: Any,
    shape: Sequence[_Expression] | None,
    sizes: Mapping[_Expression, int],
    generator: torch.Generator,
) -> Any:
    """Returns a tensor of other sizes with elements of `leaf`."""
    if shape is None or not isinstance(leaf, torch.Tensor) or not leaf.numel():
        return leaf
    resized = [one if isinstance(one, int) else int(one.subs(sizes)) for one in shape]
    if resized == list(leaf.shape):
        return leaf
    flat = leaf.detach().flatten()
    count = torch.Size(resized).numel()
    is_integer = not (leaf.dtype.is_floating_point or leaf.dtype.is_complex or leaf.dtype == torch.bool)
    if is_integer and torch.equal(flat, flat[0] + torch.arange(len(flat), dtype=leaf.dtype)):
        elements = flat[0] + torch.arange(count, dtype=leaf.dtype)
    else:
        elements = flat[torch.randint(len(flat), (count,), generator=generator)]
    return elements.view(resized)
