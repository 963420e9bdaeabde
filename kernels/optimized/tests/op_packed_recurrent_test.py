"""Tests of op_packed_recurrent.cpp: recurrent layers with packed weights, against PyTorch's layers."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from absl.testing import absltest

from export.graph_passes import layouts
from kernels.optimized.tests.own_schemas import SCHEMAS
from kernels.testing import op_tester

_COLUMNS = layouts.FLOAT_PANEL_COLUMNS
_DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
# The tolerances. The kernel adds products in another order. In half precision, everything between the input and the
# results is computed in float32, and rounded once.
_TOLERANCES = {
    torch.float32: {"rtol": 1e-4, "atol": 1e-5},
    torch.float64: {"rtol": 1e-9, "atol": 1e-10},
    torch.float16: {"rtol": 2e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 2e-2, "atol": 2e-2},
}
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_Operators = Mapping[str, op_tester.OpTester]


@dataclasses.dataclass(frozen=True)
class _Network:
    """A network of PyTorch, and the arguments of the operator that describe it.

    Attributes:
        kind: LSTM, GRU or RNN.
        inputs: the number of features of the input.
        options: of the constructor.
    """

    kind: str
    inputs: int
    hidden: int
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def module(self, dtype: torch.dtype) -> Any:
        module = getattr(torch.nn, self.kind)(self.inputs, self.hidden, **self.options).to(dtype).eval()
        for parameter in module.parameters():
            parameter.requires_grad_(False)
            parameter.copy_(op_tester.make_tensor(parameter.shape, dtype, low=-1, high=1) / math.sqrt(self.hidden))
        return module

    @property
    def directions(self) -> int:
        return 2 if self.options.get("bidirectional") else 1

    @property
    def layers(self) -> int:
        return int(self.options.get("num_layers", 1))

    @property
    def projection(self) -> int:
        return int(self.options.get("proj_size", 0))

    def arguments(self, module: Any) -> list[Any]:
        """The operator's arguments after the initial states."""
        biased = bool(self.options.get("bias", True))
        arguments: list[Any] = [list(self._weights(module, biased=biased)), self.hidden]
        if self.kind == "LSTM":
            arguments.append(self.projection)
        arguments += [self.layers, biased, self.directions == 2, bool(self.options.get("batch_first"))]
        if self.kind == "RNN":
            arguments.append(self.options.get("nonlinearity", "tanh"))
        return arguments

    def _weights(self, module: Any, *, biased: bool) -> Iterator[torch.Tensor]:
        gates = _GATES[self.kind]
        for layer, end in itertools.product(range(self.layers), ("", "_reverse")[: self.directions]):
            of: dict[str, Any] = {name: getattr(module, f"{name}_l{layer}{end}", None) for name in _NAMES}
            yield _panels(of["weight_ih"], gates)
            yield _panels(of["weight_hh"], gates)
            if biased:
                yield _biases(of["bias_ih"], of["bias_hh"], gates)
            if self.projection:
                yield _panels(of["weight_hr"], 1)

    def state_shapes(self, batch: int) -> list[tuple[int, int, int]]:
        states = self.layers * self.directions
        shapes = [(states, batch, self.projection or self.hidden)]
        return [*shapes, (states, batch, self.hidden)] if self.kind == "LSTM" else shapes


_NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


def _panels(weight: torch.Tensor, gates: int) -> torch.Tensor:
    """Packs a weight, element by element: panels of the gates of some hidden units follow each other."""
    rows, inputs = weight.shape
    hidden = rows // gates
    panels = torch.zeros((math.ceil(hidden / _COLUMNS) * gates, inputs, _COLUMNS), dtype=weight.dtype)
    for gate, unit in itertools.product(range(gates), range(hidden)):
        panels[unit // _COLUMNS * gates + gate, :, unit % _COLUMNS] = weight[gate * hidden + unit]
    return panels


def _biases(of_input: torch.Tensor, of_state: torch.Tensor, gates: int) -> torch.Tensor:
    """The sums of both biases; those of the new gate of a GRU apart. In float32, unless they are of float64."""
    dtype = torch.float64 if of_input.dtype == torch.float64 else torch.float32
    hidden = of_input.shape[0] // gates
    both = of_input.to(dtype) + of_state.to(dtype)
    rows = [both[gate * hidden :][:hidden] for gate in range(gates)]
    if gates == _GATES["GRU"]:
        rows[2:] = [one[2 * hidden :].to(dtype) for one in (of_input, of_state)]
    blocks = torch.zeros((math.ceil(hidden / _COLUMNS), len(rows), _COLUMNS), dtype=dtype)
    for row, unit in itertools.product(range(len(rows)), range(hidden)):
        blocks[unit // _COLUMNS, row, unit % _COLUMNS] = rows[row][unit]
    return blocks


# Networks of all kinds and options. Odd numbers of features and hidden units, full and partial blocks, several strips.
_NETWORKS = [
    _Network(kind, inputs, hidden, options | of_kind)
    for kind, kinds in (("LSTM", ({}, {"proj_size": 3})), ("GRU", ({},)), ("RNN", ({}, {"nonlinearity": "relu"})))
    for of_kind in kinds
    for inputs, hidden, options in (
        (1, 5, {}),
        (7, 16, {"bias": False}),
        (5, 33, {"bidirectional": True}),
        (3, 20, {"num_layers": 3}),
        (16, 64, {"num_layers": 2, "bidirectional": True}),
    )
]
# The numbers of time steps and of rows of a batch.
_LENGTHS = ((1, 1), (6, 1), (1, 3), (4, 2), (5, 13))


def _reference(kind: str) -> Callable[..., tuple[torch.Tensor, ...]]:
    """PyTorch's results in float64, from the arguments of an operator."""
    count = 2 if kind == "LSTM" else 1

    def results(x: torch.Tensor, *arguments: Any) -> tuple[torch.Tensor, ...]:
        states, (weights, hidden, *others) = arguments[:count], arguments[count:]
        projection = others.pop(0) if kind == "LSTM" else 0
        layers, has_biases, bidirectional, batch_first, *nonlinearity = others
        options = {"num_layers": layers, "bias": has_biases, "bidirectional": bidirectional, "batch_first": batch_first}
        options |= {"proj_size": projection} if projection else {}
        options |= {"nonlinearity": nonlinearity[0]} if nonlinearity else {}
        network = _Network(kind, x.shape[2], hidden, options)
        of_biases = torch.float64 if x.dtype == torch.float64 else torch.float32
        unbiased = [one for one in (*weights, *states) if one is not None and not _is_bias(one, weights, network)]
        if {one.dtype for one in unbiased} - {x.dtype} or x.dtype not in _DTYPES:
            raise ValueError("expected tensors of the same floating-point dtype")
        if any(one.dtype != of_biases for one in weights if _is_bias(one, weights, network)):
            raise ValueError("expected biases in float32 or float64")
        module = network.module(torch.float64)
        for name, value in _unpacked(network, weights).items():
            getattr(module, name).copy_(value)
        given = tuple(
            torch.zeros(shape, dtype=torch.float64) if one is None else one.double()
            for one, shape in zip(states, network.state_shapes(x.shape[0 if batch_first else 1]), strict=True)
        )
        out, last = module(x.double(), given if kind == "LSTM" else given[0])
        return tuple(one.to(x.dtype).contiguous() for one in (out, *(last if isinstance(last, tuple) else (last,))))

    return results


def _is_bias(tensor: torch.Tensor, weights: Sequence[torch.Tensor], network: _Network) -> bool:
    """Whether a tensor is a bias of a packed network, by its place."""
    of_direction = 3 + (network.projection > 0)
    places = [index for index, one in enumerate(weights) if one is tensor]
    return bool(network.options.get("bias", True)) and any(place % of_direction == 2 for place in places)


def _unpacked(network: _Network, weights: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
    """The parameters of PyTorch's layers. Biases of the input are sums of both biases, except for new gates."""
    parameters, rest, gates = {}, iter(weights), _GATES[network.kind]
    units = torch.arange(network.hidden)
    for layer, end in itertools.product(range(network.layers), ("", "_reverse")[: network.directions]):
        for name in ("weight_ih", "weight_hh"):
            panels = next(rest)
            rows = [panels[units // _COLUMNS * gates + gate, :, units % _COLUMNS] for gate in range(gates)]
            parameters[f"{name}_l{layer}{end}"] = torch.cat(rows).double()
        if network.options.get("bias", True):
            blocks = next(rest)
            rows = [blocks[units // _COLUMNS, row, units % _COLUMNS].double() for row in range(blocks.shape[1])]
            of_state = [torch.zeros_like(row) for row in rows[:gates]]
            of_state[-1] = rows[gates] if len(rows) > gates else of_state[-1]
            parameters[f"bias_ih_l{layer}{end}"] = torch.cat(rows[:gates])
            parameters[f"bias_hh_l{layer}{end}"] = torch.cat(of_state)
        if network.projection:
            panels, features = next(rest), torch.arange(network.projection)
            parameters[f"weight_hr_l{layer}{end}"] = panels[features // _COLUMNS, :, features % _COLUMNS].double()
    return parameters


class OpPackedRecurrentTest(op_tester.OpTest):
    def setUp(self) -> None:
        super().setUp()
        self.operators: _Operators = {
            kind: self.op(name, schema=SCHEMAS[name], reference=_reference(kind))
            for kind, name in (
                ("LSTM", "rules_executorch::packed_lstm.out"),
                ("GRU", "rules_executorch::packed_gru.out"),
                ("RNN", "rules_executorch::packed_rnn.out"),
            )
        }

    def judge(
        self,
        network: _Network,
        x: torch.Tensor,
        states: Sequence[torch.Tensor] = (),
    ) -> None:
        """Compares the operator with a layer of PyTorch in float64."""
        module = network.module(x.dtype)
        double = _double(network, module)
        given = tuple(state.double() for state in states)
        hidden = None if not given else given if network.kind == "LSTM" else given[0]
        out, last = double(x.double(), hidden)
        expected = [one.to(x.dtype) for one in (out, *(last if isinstance(last, tuple) else (last,)))]
        absent: list[Any] = [None] * len(network.state_shapes(1))
        arguments = [*(states or absent), *network.arguments(module)]
        self.operators[network.kind].judge_results(
            [one.contiguous() for one in expected], x, *arguments, **_TOLERANCES[x.dtype]
        )

    def test_networks(self) -> None:
        for network, (steps, batch) in itertools.product(_NETWORKS, _LENGTHS):
            x = op_tester.make_tensor((steps, batch, network.inputs), torch.float32, low=-2, high=2)
            self.judge(network, x)

    def test_dtypes(self) -> None:
        for network, dtype in itertools.product(_NETWORKS, _DTYPES):
            x = op_tester.make_tensor((4, 2, network.inputs), dtype, low=-2, high=2)
            self.judge(network, x, [op_tester.make_tensor(shape, dtype) for shape in network.state_shapes(2)])

    def test_batch_first(self) -> None:
        for network, (steps, batch) in itertools.product(_NETWORKS, _LENGTHS):
            turned = dataclasses.replace(network, options={**network.options, "batch_first": True})
            x = op_tester.make_tensor((batch, steps, network.inputs), torch.float32, low=-2, high=2)
            self.judge(turned, x, [op_tester.make_tensor(one, torch.float32) for one in network.state_shapes(batch)])

    def test_long_sequences(self) -> None:
        """More steps than those whose products of the input are computed together, in both directions."""
        for kind, batch in itertools.product(_GATES, (1, 3)):
            network = _Network(kind, 3, 100, {"bidirectional": True, "batch_first": batch == 1})
            shape = (batch, 1500, 3) if batch == 1 else (1500, batch, 3)
            x = op_tester.make_tensor(shape, torch.float32, low=-2, high=2)
            self.judge(network, x)

    def test_wide_layers(self) -> None:
        """More features than are added before their sum is added to a total."""
        for kind, steps, batch in itertools.product(_GATES, (1, 2), (1, 9)):
            x = op_tester.make_tensor((steps, batch, 500), torch.float32, low=-2, high=2)
            self.judge(_Network(kind, 500, 410), x)

    def test_states_of_one_kind(self) -> None:
        """An LSTM may have one of its initial states only: the other one is zeros."""
        network = _Network("LSTM", 3, 20, {"num_layers": 2})
        arguments = network.arguments(network.module(torch.float32))
        x, state = torch.randn(4, 2, 3), torch.randn(2, 2, 20)
        for states in ((state, None), (None, state)):
            self.operators["LSTM"].check(x, *states, *arguments, **_TOLERANCES[torch.float32])

    def test_dim_orders(self) -> None:
        for kind, dtype in itertools.product(_GATES, (torch.float32, torch.bfloat16)):
            network = _Network(kind, 5, 20, {"bidirectional": True})
            module = network.module(dtype)
            states = [op_tester.make_tensor(shape, dtype) for shape in network.state_shapes(3)]
            x = op_tester.make_tensor((4, 3, 5), dtype, low=-2, high=2)
            for order in itertools.permutations(range(3)):
                given = [op_tester.with_dim_order(one, order) for one in (x, *states)]
                arguments = [*given, *network.arguments(module)]
                self.operators[kind].check(*arguments, **_TOLERANCES[dtype])
                if order != (0, 1, 2):
                    outs = self.operators[kind].expect(*arguments)
                    self.operators[kind].check_rejected(*arguments, outs=outs, out_dim_order=order, static=True)

    def test_special_values(self) -> None:
        """Infinite and undefined elements of one row stay in this row."""
        for kind, options in (("LSTM", {}), ("GRU", {}), ("RNN", {}), ("RNN", {"nonlinearity": "relu"})):
            network = _Network(kind, 4, 20, options)
            arguments = network.arguments(network.module(torch.float32))
            for value in (math.inf, -math.inf, math.nan, 1e38, -1e38):
                x = torch.randn(3, 2, 4)
                x[1, 0, 2] = value
                states = [None] * len(network.state_shapes(2))
                self.operators[kind].check(x, *states, *arguments, rtol=1e-4, atol=1e-5)

    def test_empty_batch(self) -> None:
        for kind in _GATES:
            network = _Network(kind, 3, 5)
            arguments = network.arguments(network.module(torch.float32))
            outs = [torch.ones(4, 0, 5), *map(torch.ones, network.state_shapes(0))]
            states = [None] * len(network.state_shapes(0))
            self.operators[kind].judge_results(outs, torch.ones(4, 0, 3), *states, *arguments)

    def test_resized_results(self) -> None:
        """The results of a program with bounds are larger than those of a call."""
        for kind in _GATES:
            network = _Network(kind, 3, 5, {"num_layers": 2})
            arguments = network.arguments(network.module(torch.float32))
            x, states = torch.randn(4, 2, 3), [None] * len(network.state_shapes(2))
            expected = self.operators[kind].expect(x, *states, *arguments)
            outs = [torch.ones(6, 3, 5), *map(torch.ones, network.state_shapes(3))]
            results = self.operators[kind].run(x, *states, *arguments, outs=outs)
            for actual, wanted in zip(results, expected, strict=True):
                torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-5)

    def test_wrong_arguments(self) -> None:
        for kind, options in (("LSTM", {"proj_size": 3}), ("GRU", {}), ("RNN", {})):
            network = _Network(kind, 4, 20, options)
            operator, states = self.operators[kind], [None] * len(network.state_shapes(2))
            weights, *others = network.arguments(network.module(torch.float32))
            x, outs = torch.randn(3, 2, 4), [torch.ones(3, 2, network.projection or 20)]
            outs += map(torch.ones, network.state_shapes(2))
            operator.run(x, *states, weights, *others, outs=outs)
            # Another number of features, no steps, other ranks and dtypes.
            for wrong in (torch.randn(3, 2, 5), torch.randn(0, 2, 4), torch.randn(3, 4), x.double(), x.int()):
                operator.check_rejected(wrong, *states, weights, *others, outs=outs)
            for index, one in enumerate(weights):
                for wrong in (one[:-1], one[:, :-1], one[..., :-1], one.double(), one[None]):
                    changed = [*weights[:index], wrong.contiguous(), *weights[index + 1 :]]
                    operator.check_rejected(x, *states, changed, *others, outs=outs)
            operator.check_rejected(x, *states, weights[:-1], *others, outs=outs)
            operator.check_rejected(x, *states, [*weights, weights[0]], *others, outs=outs)
            for wrong_units in (0, -1, 21, 40):
                operator.check_rejected(x, *states, weights, wrong_units, *others[1:], outs=outs)
            for index, shape in enumerate(network.state_shapes(2)):
                for wrong in (torch.ones(shape)[:, :1], torch.ones(shape)[..., :1], torch.ones(shape).double()):
                    given = [*states[:index], wrong.contiguous(), *states[index + 1 :]]
                    operator.check_rejected(x, *given, weights, *others, outs=outs)
        for wrong_name in ("", "sigmoid", "tanhh"):
            operator.check_rejected(x, *states, weights, *others[:-1], wrong_name, outs=outs)


def _double(network: _Network, module: Any) -> Any:
    double = getattr(torch.nn, network.kind)(network.inputs, network.hidden, **network.options).double().eval()
    double.load_state_dict({name: value.double() for name, value in module.state_dict().items()})
    return double.requires_grad_(False)


if __name__ == "__main__":
    absltest.main()
