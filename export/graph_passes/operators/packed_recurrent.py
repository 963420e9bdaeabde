"""The operators for recurrent layers with packed weights, for PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from export.graph_passes import layouts
from export.graph_passes.calls import PackedGru, PackedLstm, PackedRnn
from export.graph_passes.operators.registration import fakes, implements

# Columns of a panel, and hidden units of a block.
_COLUMNS = layouts.FLOAT_PANEL_COLUMNS
# The gates of a cell, in PyTorch's order.
LSTM_GATES, GRU_GATES, RNN_GATES = 4, 3, 1
# The dtypes of weights that the kernel reads.
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)

_Network = PackedGru[torch.Tensor] | PackedLstm[torch.Tensor] | PackedRnn[torch.Tensor]


def pack(weight: torch.Tensor, gates: int) -> torch.Tensor:
    """Packs a weight [gates * units, features] into panels of units.

    Element [b * gates + g, k, j] of the result is the weight of gate g of unit `b * columns + j` and feature k, where
    `columns` is the width of a panel. The panels of the gates of some units follow each other, so that the kernel
    computes these units as soon as it has their products. Zeros fill up the last panels.
    """
    rows, features = weight.shape
    of_gates = weight.detach().reshape(gates, rows // gates, features)
    filled = torch.nn.functional.pad(of_gates, (0, 0, 0, -(rows // gates) % _COLUMNS))
    panels: torch.Tensor = filled.unflatten(1, (-1, _COLUMNS)).permute(1, 0, 3, 2)
    return panels.flatten(0, 1).contiguous()


def unpack(panels: torch.Tensor, gates: int, units: int) -> torch.Tensor:
    """Returns the weight before `pack`."""
    of_gates: torch.Tensor = panels.unflatten(0, (-1, gates)).permute(1, 0, 3, 2)
    return of_gates.flatten(1, 2)[:, :units].flatten(0, 1)


def pack_biases(of_input: torch.Tensor, of_state: torch.Tensor, gates: int) -> torch.Tensor:
    """Adds the biases of the input's and of the state's products, and packs them: [blocks of units, gates, units].

    A GRU multiplies the state's product of its last gate, the new state, by another gate. The bias of this product is
    apart, after those of the gates. The result is of float32, or of float64 for biases of float64.
    """
    dtype = torch.float64 if of_input.dtype == torch.float64 else torch.float32
    both = [one.detach().to(dtype).reshape(gates, -1) for one in (of_input, of_state)]
    rows = both[0] + both[1]
    if gates == GRU_GATES:
        rows = torch.cat([rows[:-1], both[0][-1:], both[1][-1:]])
    filled = torch.nn.functional.pad(rows, (0, -rows.shape[1] % _COLUMNS))
    blocks: torch.Tensor = filled.unflatten(1, (-1, _COLUMNS))
    return blocks.transpose(0, 1).contiguous()


def unpack_biases(blocks: torch.Tensor, gates: int, units: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns biases of the input's and of the state's products with the sums of those before `pack_biases`."""
    rows = blocks.transpose(0, 1).flatten(1)[:, :units]
    of_state = torch.zeros_like(rows[:gates])
    if gates == GRU_GATES:
        of_state[-1] = rows[-1]
    return rows[:gates].flatten(), of_state.flatten()


def pack_network(
    weights: Sequence[torch.Tensor], gates: int, *, has_biases: bool, has_projections: bool
) -> list[torch.Tensor]:
    """Packs the weights of a network, as PyTorch's operators take them: those of each direction of each layer.

    PyTorch's are the weights of the input and of the state, their biases, and the weight of the projection. The packed
    ones are the same with one tensor for both biases.
    """
    packed = []
    count = 2 + 2 * has_biases + has_projections
    for start in range(0, len(weights), count):
        of_input, of_state, *others = weights[start : start + count]
        packed += [pack(of_input, gates), pack(of_state, gates)]
        if has_biases:
            packed.append(pack_biases(others[0], others[1], gates))
        if has_projections:
            packed.append(pack(others[-1], 1))
    return packed


def _unpack_network(call: _Network, gates: int, dtype: torch.dtype) -> list[torch.Tensor]:
    """Returns the weights before `pack_network`, in a dtype."""
    weights = []
    units, projection = call.hidden_size, _projection(call)
    count = 2 + call.has_biases + (projection > 0)
    for start in range(0, len(call.weights), count):
        of_input, of_state, *others = (one.to(dtype) for one in call.weights[start : start + count])
        weights += [unpack(of_input, gates, units), unpack(of_state, gates, units)]
        if call.has_biases:
            weights += unpack_biases(others[0], gates, units)
        if projection:
            weights.append(unpack(others[-1], 1, projection))
    return weights


def _projection(call: _Network) -> int:
    return call.proj_size if isinstance(call, PackedLstm) else 0


def _sizes(call: _Network) -> list[list[Any]]:
    """Returns the sizes of the result, of the states, and of the states of an LSTM's cells."""
    directions = 2 if call.bidirectional else 1
    features = _projection(call) or call.hidden_size
    batch = call.input.shape[0 if call.batch_first else 1]
    states = call.num_layers * directions
    of_cells = [[states, batch, call.hidden_size]] if isinstance(call, PackedLstm) else []
    return [[*call.input.shape[:2], directions * features], [states, batch, features], *of_cells]


def _run(call: _Network, gates: int, operator: Any) -> tuple[torch.Tensor, ...]:
    """Runs an operator of PyTorch. As the kernel does, computes in float32 at least."""
    dtype = torch.promote_types(call.input.dtype, torch.float32)
    _, *shapes = _sizes(call)
    given = [call.h_0, call.c_0] if isinstance(call, PackedLstm) else [call.h_0]
    states = [
        torch.zeros(shape, dtype=dtype) if one is None else one.to(dtype)
        for one, shape in zip(given, shapes, strict=True)
    ]
    results: tuple[torch.Tensor, ...] = operator(
        call.input.to(dtype),
        states if isinstance(call, PackedLstm) else states[0],
        _unpack_network(call, gates, dtype),
        call.has_biases,
        call.num_layers,
        0.0,
        False,
        call.bidirectional,
        call.batch_first,
    )
    return tuple(one.to(call.input.dtype) for one in results)


@implements(PackedLstm)
def packed_lstm(call: PackedLstm[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    return _run(call, LSTM_GATES, torch.ops.aten.lstm.input)


@implements(PackedGru)
def packed_gru(call: PackedGru[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    return _run(call, GRU_GATES, torch.ops.aten.gru.input)


@implements(PackedRnn)
def packed_rnn(call: PackedRnn[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    operator = torch.ops.aten.rnn_relu.input if call.nonlinearity == "relu" else torch.ops.aten.rnn_tanh.input
    return _run(call, RNN_GATES, operator)


def _fake_network(call: _Network) -> tuple[torch.Tensor, ...]:
    return tuple(map(call.input.new_empty, _sizes(call)))


fakes(PackedGru)(_fake_network)
fakes(PackedLstm)(_fake_network)
fakes(PackedRnn)(_fake_network)
