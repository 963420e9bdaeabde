"""Patch: tracing a recurrent layer computes the sizes of its results only.

**What**: replaces the Python kernels of `aten.lstm.input`, `aten.gru.input`, `aten.rnn_tanh.input` and
`aten.rnn_relu.input`. PyTorch's kernels are decompositions: they repeat the cell for each time step.

**Why**: `torch.export` keeps the call of the layer, but runs the decomposition for the sizes of the results. The number
of time steps then is fixed, although no operator of the graph depends on it.

**Effect**: the number of time steps may vary, if a graph pass keeps the layer whole. The trace of an LSTM of 3 layers
and 160 time steps takes 0.1 s, not 4.

**Report**, to PyTorch: `aten.lstm.input` and its kind should have meta kernels.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._subclasses import FakeTensor

from export.patches.patch import Patch

PATCH = Patch(
    "recurrent_shapes",
    known={
        "torch._decomp.decompositions:lstm_impl": {"2.13": "66fd856eae53"},
        "torch._decomp.decompositions:gru_impl": {"2.13": "a96b884661fb"},
        "torch._decomp.decompositions:rnn_tanh_input": {"2.13": "49103e58af64"},
        "torch._decomp.decompositions:rnn_relu_input": {"2.13": "c62114643a9a"},
        "torch._ops:OperatorBase.py_impl": {"2.13": "7a32030166eb"},
    },
    without="the number of time steps of recurrent layers is that of the example inputs",
)

_OPERATORS = (
    torch.ops.aten.gru.input,
    torch.ops.aten.lstm.input,
    torch.ops.aten.rnn_relu.input,
    torch.ops.aten.rnn_tanh.input,
)


@contextlib.contextmanager
def known() -> Iterator[None]:
    """Computes only the sizes of the results of recurrent layers of fake tensors during the block."""
    with contextlib.ExitStack() as stack:
        for operator in _OPERATORS:
            stack.callback(operator._dispatch_cache.clear)
            kernels = {key: _sizes_or(kernel) for key, kernel in operator.py_kernels.items()}
            stack.enter_context(PATCH.applied(operator, py_kernels=kernels))
            operator._dispatch_cache.clear()
        yield


def _sizes_or(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a kernel that gives empty results for fake tensors, with the strides of PyTorch's."""

    def sized(  # noqa: PLR0917  # The parameters of the operators.
        input: torch.Tensor,
        hx: torch.Tensor | Sequence[torch.Tensor],
        params: Sequence[torch.Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[torch.Tensor, ...]:
        if not isinstance(input, FakeTensor):
            results: tuple[torch.Tensor, ...] = kernel(
                input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
            )
            return results
        states = (hx,) if isinstance(hx, torch.Tensor) else tuple(hx)
        sizes = [*input.shape[:2]]
        steps, batch = sizes[::-1] if batch_first else sizes
        out = input.new_empty((steps, batch, states[0].shape[2] * (2 if bidirectional else 1)))
        return out.transpose(0, 1) if batch_first else out, *(one.new_empty(one.shape) for one in states)

    return sized
