"""Keeps recurrent layers whole, as one call with packed weights for all layers, directions and time steps.

PyTorch's own lowering repeats the cell for each time step: a program of a long sequence has thousands of calls.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export.graph_passes import aliases, calls, graphs
from export.graph_passes.call import first
from export.graph_passes.graph_pass import Change, GraphPass, Sites, Stage
from export.graph_passes.operators import packed_recurrent

_Layer = calls.GruInput[Node] | calls.LstmInput[Node] | calls.RnnReluInput[Node] | calls.RnnTanhInput[Node]
_Packed = calls.PackedGru[Node] | calls.PackedLstm[Node] | calls.PackedRnn[Node]

_LAYERS = (calls.GruInput, calls.LstmInput, calls.RnnReluInput, calls.RnnTanhInput)
_GATES = {
    calls.GruInput.OPERATOR: packed_recurrent.GRU_GATES,
    calls.LstmInput.OPERATOR: packed_recurrent.LSTM_GATES,
    calls.RnnReluInput.OPERATOR: packed_recurrent.RNN_GATES,
    calls.RnnTanhInput.OPERATOR: packed_recurrent.RNN_GATES,
}
_ZEROS = frozenset({"aten::new_zeros", "aten::zeros", "aten::zeros_like"})


def _run(_: ExportedProgram, sites: Sites) -> list[Change]:
    """Keeps the packed weights, which several calls of a layer share."""
    return sites.rewrite(_LAYERS, functools.partial(_rewrite, {}))


def _rewrite(
    packed: dict[tuple[str, tuple[Node, ...]], tuple[Node, ...]], program: ExportedProgram, node: Node, layer: _Layer
) -> Change | None:
    network = _Network.of(program, layer)
    if network is None:
        return None
    key = (layer.OPERATOR, layer.params)
    if key not in packed:
        packed[key] = tuple(graphs.add_constant(program, f"{node.name}_weight_packed", one) for one in network.packed())
    _insert(node, network.call(packed[key]))
    return Change(node, f"{layer.OPERATOR.partition('.')[0]} kept whole, with packed weights")


def keeps_all(program: ExportedProgram) -> bool:
    """Returns whether the pass keeps all recurrent layers of a method whole."""
    return all(_Network.of(program, layer) is not None for _, layer in _layers(program.graph.nodes))


def has_layers(program: ExportedProgram) -> bool:
    """Returns whether a method has recurrent layers."""
    return any(True for _ in _layers(program.graph.nodes))


def check_steps(program: ExportedProgram) -> None:
    """Checks that the lowering repeats no cell for a number of time steps that varies.

    Raises:
        ValueError: it would, and so fix the number.
    """
    for node, layer in _layers(program.graph.nodes):
        if not isinstance(graphs.value(layer.input).shape[1 if layer.batch_first else 0], int):
            raise ValueError(
                f"{node.name} ({layer.OPERATOR}) has a varying number of time steps, and is not kept whole"
            )


def _layers(nodes: Iterable[Node]) -> Iterator[tuple[Node, _Layer]]:
    """Yields the calls of recurrent layers."""
    for node in nodes:
        layer = first(_LAYERS, node)
        if layer is not None:
            yield node, layer


@dataclass(frozen=True)
class _Network:
    """The recurrent layers of a call.

    Attributes:
        layer: the call.
        weights: of all layers, as the call has them.
        units: the number of hidden units of a layer.
        projection: the number of features of the projected state; 0 for none.
    """

    layer: _Layer
    weights: Sequence[torch.Tensor]
    units: int
    projection: int

    @classmethod
    def of(cls, program: ExportedProgram, layer: _Layer) -> _Network | None:
        """Returns the layers of a call; None if the operator with packed weights cannot compute them."""
        dtype = graphs.value(layer.input).dtype
        given = [graphs.weight(program, one) for one in layer.params]
        weights = [one for one in given if one is not None and one.dtype == dtype]
        if len(weights) != len(given) or dtype not in packed_recurrent.DTYPES or any(map(_is_written, layer.params)):
            return None
        if layer.train and layer.dropout > 0 and layer.num_layers > 1:
            return None
        units = weights[1].shape[0] // _GATES[layer.OPERATOR]
        of_direction = len(weights) // (layer.num_layers * (2 if layer.bidirectional else 1))
        has_projections = of_direction > 2 + 2 * layer.has_biases
        return cls(layer, weights, units, weights[of_direction - 1].shape[0] if has_projections else 0)

    def packed(self) -> Sequence[torch.Tensor]:
        """Returns the packed weights."""
        return packed_recurrent.pack_network(
            self.weights,
            _GATES[self.layer.OPERATOR],
            has_biases=self.layer.has_biases,
            has_projections=self.projection > 0,
        )

    def call(self, weights: tuple[Node, ...]) -> _Packed:
        """Returns the call of the operator with packed weights. States that are zeros are left out."""
        layer = self.layer
        common = (layer.num_layers, layer.has_biases, layer.bidirectional, layer.batch_first)
        if isinstance(layer, calls.LstmInput):
            states = [_unless_zero(one) for one in layer.hx]
            return calls.PackedLstm(layer.input, states[0], states[1], weights, self.units, self.projection, *common)
        state = _unless_zero(layer.hx)
        if isinstance(layer, calls.GruInput):
            return calls.PackedGru(layer.input, state, weights, self.units, *common)
        nonlinearity = "relu" if isinstance(layer, calls.RnnReluInput) else "tanh"
        return calls.PackedRnn(layer.input, state, weights, self.units, *common, nonlinearity)


def _unless_zero(state: Node) -> Node | None:
    """Returns an initial state; None for zeros."""
    is_zero = graphs.name_of(state) in _ZEROS and not _is_written(state)
    return None if is_zero else state


def _insert(node: Node, call: _Packed) -> None:
    """Replaces a call of PyTorch by a call of ours.

    With the batch first, PyTorch's result is a view of one with the time first. Where a later view needs these strides,
    our call has the time first, too.
    """
    old = graphs.value(node)
    values = [_contiguous(one) for one in old]
    results = {user: values[int(user.args[1])] for user in node.users}  # type: ignore[arg-type]
    views = _views(node, results)
    if views is None:
        source = graphs.value(call.input)
        by_time = calls.TransposeInt(call.input, 0, 1).insert(node, source.transpose(0, 1), is_edge=False)
        call = call.replace(input=by_time, batch_first=False)
        values[0] = _contiguous(old[0].transpose(0, 1))
    whole = call.insert(node, tuple(values), is_edge=False)
    graphs.replace(node, whole)
    for one, value in (views or {}).items():
        one.meta["val"] = value
    if views is not None:
        return
    for user in [one for one in whole.users if one.args[1] == 0]:
        user.meta["val"] = values[0]
        uses = list(user.users)
        with user.graph.inserting_after(user):
            back = user.graph.call_function(calls.TransposeInt.overload(), (user, 0, 1))
        back.meta = {**user.meta, "val": old[0]}
        for use in uses:
            use.replace_input_with(user, back)


def _contiguous(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the fake tensor of a contiguous result."""
    return graphs.like(tensor, tensor.shape, graphs.strides(tensor.shape, range(tensor.dim())))


def _views(after: Node, results: Mapping[Node, torch.Tensor]) -> dict[Node, torch.Tensor] | None:
    """Returns results of a node with new values, and all views of them; None if their strides allow no view."""
    views: dict[Node, Any] = dict(results)
    if all(graphs.same_layouts(graphs.value(node), value) for node, value in results.items()):
        return views
    mode = graphs.value(after)[0].fake_mode
    for node in after.graph.nodes:
        if node in results or not any(one in views for one in node.all_input_nodes):
            continue
        if node.target is operator.getitem:
            views[node] = views[node.args[0]][node.args[1]]
            continue
        if not isinstance(node.target, torch._ops.OpOverload):
            if node.op == "call_function":
                return None  # A branch or a loop may have views.
            continue
        if not any(one.alias_info is not None for one in node.target._schema.returns):
            continue
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda one: views.get(one, graphs.value(one)))
        try:
            with mode.shape_env.suppress_guards() if mode.shape_env is not None else torch.no_grad():
                views[node] = node.target(*args, **kwargs)
        except Exception:  # PyTorch refuses a view in several ways
            return None
    return views


def _is_written(node: Node) -> bool:
    """Returns whether a call writes to a value or to a view of it. Graphs of torch.export have such calls."""
    seen, waiting = {node}, [node]
    while waiting:
        value = waiting.pop()
        for user in value.users:
            if value in aliases.written(user):
                return True
            called = graphs.operator_of(user)
            is_view = called is not None and any(one.alias_info is not None for one in called._schema.returns)
            if (is_view or user.target is operator.getitem) and user not in seen:
                seen.add(user)
                waiting.append(user)
    return False


PASS = GraphPass(
    "recurrent",
    Stage.EXPORTED,
    run=_run,
    reference=(
        "keeps LSTM, GRU and RNN whole, with [packed weights](../docs/optimized_kernels.md#recurrent-layers), as "
        "`rules_executorch::packed_lstm.out`, `packed_gru.out` and `packed_rnn.out`. The number of time steps may then "
        "vary. ExecuTorch's own lowering repeats the cell for each time step. A layer stays as it is if its weights "
        "are computed or change, or if it drops elements at random"
    ),
)
