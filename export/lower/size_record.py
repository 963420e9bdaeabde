"""Stores the sizes that the inputs of a method may have in the program, for the runners.

A program itself has the largest sizes of its inputs only. It would take a smaller size than its trace allows, another
size in a fixed dimension, and different sizes where the model has one, and give results that mean nothing.

The data of a method with dynamic shapes has the key `rules_executorch.input_sizes/<method>`. It consists of int32
numbers in little-endian order. First, the number of inputs. Then, for each input, the number of its dimensions, 0 for
an input that is no tensor, and for each dimension five numbers: the smallest and the largest size, the number of the
symbol, `factor` and `offset`. The size is `factor * symbol + offset`, with the same value of a symbol in all inputs. A
fixed size has the symbol -1, and so has a size that is another function of symbols. The data is read by
`runtime/runner/input_sizes.cpp` and `codegen/inputs/program_content_reader.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from executorch.exir import EdgeProgramManager
from torch.export import ExportedProgram

from export.graph_passes import graphs
from export.user import asked_sizes
from export.user.model_file import Method

_KEY = "rules_executorch.input_sizes/"
_ALIGNMENT = 4
_NO_SYMBOL = -1
# torch.export assumes that a size is at least 2 if the user names none. Most programs are right for 0 and 1.
_LEAST_OF_EXPORT = 2

# A SymPy expression. SymPy's types are no use: PyTorch's own are incomplete.
_Expression = Any


class _Dim(NamedTuple):
    """A dimension of an input. The attributes are described above."""

    least: int
    most: int
    symbol: int = _NO_SYMBOL
    factor: int = 1
    offset: int = 0


def add(edge: EdgeProgramManager, method: Method, program: ExportedProgram) -> None:
    """Adds the sizes of a method to the data of the program. A method without dynamic shapes adds nothing.

    Args:
        edge: the program.
        method: the method.
        program: the graph of the method in `edge`.
    """
    inputs = list(_inputs(method, program))
    if all(dim.least == dim.most for dims in inputs for dim in dims):
        return  # ExecuTorch checks fixed shapes.
    numbers = [len(inputs)]
    for dims in inputs:
        numbers += [len(dims), *(number for dim in dims for number in dim)]
    data = struct.pack(f"<{len(numbers)}i", *numbers)
    edge._named_data_store.add_named_data(_KEY + method.name, data, _ALIGNMENT)


def _inputs(method: Method, program: ExportedProgram) -> Iterator[list[_Dim]]:
    """Yields the dimensions of each input; none for inputs that are no tensors."""
    values = [value for _, value in graphs.user_inputs(program)]
    sizes: list[list[int | torch.SymInt]] = [
        list(value.shape) if isinstance(value, torch.Tensor) else [] for value in values
    ]
    asked: list[Mapping[int, Any]] = [*asked_sizes.of(method)]
    asked += [{}] * (len(sizes) - len(asked))
    least_asked = [
        [asked_sizes.least(of_input[dim]) if dim in of_input else None for dim in range(len(of_sizes))]
        for of_sizes, of_input in zip(sizes, asked, strict=False)
    ]
    smallest: dict[_Expression, int] = {}
    for of_sizes, of_input in zip(sizes, least_asked, strict=True):
        for size, least in zip(of_sizes, of_input, strict=True):
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol and least is not None:
                smallest[size.node.expr] = least
    symbols: dict[_Expression, int] = {}
    for of_sizes, of_input in zip(sizes, least_asked, strict=True):
        yield [_dim(size, least, smallest, symbols) for size, least in zip(of_sizes, of_input, strict=True)]


def _dim(
    size: int | torch.SymInt, asked: int | None, smallest: Mapping[_Expression, int], symbols: dict[_Expression, int]
) -> _Dim:
    """Returns the description of a dimension.

    Args:
        size: the size in the graph.
        asked: the smallest size that the user asks for; None if nothing is said.
        smallest: the same by symbol.
        symbols: the numbers of the symbols. A new symbol is added.
    """
    if isinstance(size, int):
        return _Dim(size, size)
    expression = size.node.expr
    bounds = size.node.shape_env.bound_sympy(expression)
    if bounds.lower == bounds.upper:
        return _Dim(int(bounds.lower), int(bounds.upper))
    most = min(int(bounds.upper), torch.iinfo(torch.int32).max)
    line = _line(expression)
    if line is None:
        return _Dim(asked or _allowed(int(bounds.lower)), most)
    symbol, factor, offset = line
    lower = _allowed(int(size.node.shape_env.bound_sympy(symbol).lower))
    least = asked or max(0, factor * smallest.get(symbol, lower) + offset)
    return _Dim(least, most, symbols.setdefault(symbol, len(symbols)), factor, offset)


def _allowed(lower: int) -> int:
    """Returns the smallest size for a lower bound of torch.export, without its assumption."""
    return lower if lower > _LEAST_OF_EXPORT else 0


def _line(expression: _Expression) -> tuple[_Expression, int, int] | None:
    """Returns the symbol, factor and offset of `factor * symbol + offset`; None for another expression."""
    if len(expression.free_symbols) != 1:
        return None
    (symbol,) = expression.free_symbols
    factor, offset = expression.coeff(symbol, 1), expression.coeff(symbol, 0)
    if not (factor.is_Integer and offset.is_Integer and factor > 0):
        return None
    return None if (factor * symbol + offset - expression).expand() != 0 else (symbol, int(factor), int(offset))
