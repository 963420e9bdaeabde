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
from export.lower import input_sizes
from export.user import asked_sizes
from export.user.model_file import Method

_KEY = "rules_executorch.input_sizes/"
_ALIGNMENT = 4
_NO_SYMBOL = -1

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
    smallest: dict[_Expression, int] = {}
    for of_sizes, of_input in zip(sizes, asked, strict=False):
        for dim, size in enumerate(of_sizes):
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol and dim in of_input:
                smallest[size.node.expr] = asked_sizes.least(of_input[dim]) or 0
    symbols: dict[_Expression, int] = {}
    for of_sizes in sizes:
        yield [_dim(size, smallest, symbols) for size in of_sizes]


def _dim(size: int | torch.SymInt, smallest: Mapping[_Expression, int], symbols: dict[_Expression, int]) -> _Dim:
    """Returns the description of a dimension.

    Args:
        size: the size in the graph.
        smallest: the smallest sizes that the user asks for, by symbol.
        symbols: the numbers of the symbols. A new symbol is added.
    """
    least, most = input_sizes.bounds(size)
    if isinstance(size, int) or least == most:
        return _Dim(int(least), int(most))
    most = min(int(most), torch.iinfo(torch.int32).max)
    line = _line(size.node.expr)
    if line is None:
        return _Dim(_allowed(least), most)
    symbol, factor, offset = line
    least_symbol = max(smallest.get(symbol, 0), _allowed(size.node.shape_env.bound_sympy(symbol).lower))
    number = symbols.setdefault(symbol, len(symbols))
    return _Dim(max(0, factor * least_symbol + offset), most, number, factor, offset)


def _allowed(lower: int) -> int:
    """Returns the smallest size for a lower bound of torch.export, without its assumption."""
    return int(lower) if lower > input_sizes.LEAST_OF_EXPORT else 0


def _line(expression: _Expression) -> tuple[_Expression, int, int] | None:
    """Returns the symbol, factor and offset of `factor * symbol + offset`; None for another expression."""
    if len(expression.free_symbols) != 1:
        return None
    (symbol,) = expression.free_symbols
    factor, offset = expression.coeff(symbol, 1), expression.coeff(symbol, 0)
    if not (factor.is_Integer and offset.is_Integer and factor > 0):
        return None
    return None if (factor * symbol + offset - expression).expand() != 0 else (symbol, int(factor), int(offset))
