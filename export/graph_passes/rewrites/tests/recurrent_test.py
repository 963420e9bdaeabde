"""Tests of the pass recurrent."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping
from typing import Any

import torch
from absl.testing import absltest
from torch import nn

from export.graph_passes.calls import PackedGru, PackedLstm, PackedRnn
from export.graph_passes.operators import packed_recurrent
from export.graph_passes.rewrites import recurrent
from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import PassTestCase, model_file
from export.patches import recurrent_shapes

_OUTS = {kind: f"rules_executorch::packed_{kind.lower()}.out" for kind in ("LSTM", "GRU", "RNN")}
_OPERATORS: Mapping[str, Any] = {"LSTM": PackedLstm, "GRU": PackedGru, "RNN": PackedRnn}
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
# Weights of both signs: states stay where gates differ.
_WITH_SIGNS = """
_randomized = get_model

def get_model():
    model, inputs = _randomized()
    for tensor in model.state_dict().values():
        tensor.sub_(1)
    return model.eval(), inputs
"""


def _file(forward: str, *inputs: str, init: str, after: str = "") -> str:
    return model_file(forward, *inputs, init=init, after=_WITH_SIGNS + textwrap.dedent(after))


class _Viewed(nn.Module):
    """Views of a result that exist for some strides only."""

    def __init__(self, layer: nn.Module, view: str) -> None:
        super().__init__()
        self.layer, self.view = layer, view

    def forward(self, x: torch.Tensor) -> Any:
        y = self.layer(x)[0]
        if self.view == "by time":
            return y.transpose(0, 1).contiguous().view(-1, y.shape[2]) * 2
        if self.view == "by batch":
            return y.contiguous().view(-1, y.shape[2]) * 2
        if self.view == "both":
            return y.transpose(0, 1).contiguous().view(-1, y.shape[2]), y.reshape(y.shape[0], -1), y[:, -1]
        y.add_(1)
        y[:, 0].mul_(2)
        return y.transpose(1, 2).flatten(1), y.chunk(2, 2)[1].sum(1)


class _Streaming(nn.Module):
    """An LSTM whose state is kept in buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(3, 20, batch_first=True)
        self.hidden = nn.Buffer(torch.zeros(1, 2, 20))
        self.cell = nn.Buffer(torch.zeros(1, 2, 20))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, (hidden, cell) = self.layer(x, (self.hidden, self.cell))
        self.hidden.copy_(hidden)
        self.cell[:] = cell
        result: torch.Tensor = y + self.hidden.transpose(0, 1)
        return result


class RecurrentTest(PassTestCase):
    def changed(self, kind: str) -> str:
        return f"aten::{kind} kept whole, with packed weights"

    def test_acts(self) -> None:
        for kind, options, dtype in (
            ("LSTM", "", "float32"),
            ("LSTM", ", num_layers=2, proj_size=5, bidirectional=True", "float32"),
            ("LSTM", ", bias=False, batch_first=True", "float16"),
            ("GRU", ", num_layers=3, dropout=0.5", "float32"),
            ("GRU", ", bidirectional=True, batch_first=True", "bfloat16"),
            ("RNN", ", num_layers=2", "float64"),
            ("RNN", ", nonlinearity='relu'", "float32"),
        ):
            with self.subTest(f"{kind}{options} of {dtype}"):
                init = f"self.layer = torch.nn.{kind}(3, 20, dtype=torch.{dtype}{options})"
                source = _file("return self.layer(x)", f"torch.rand(4, 2, 3).to(torch.{dtype})", init=init)
                name = {"RNN": "rnn_relu" if "relu" in options else "rnn_tanh"}.get(kind, kind.lower())
                self.check("recurrent", source, changes=[self.changed(name)], calls=[_OUTS[kind]])

    def test_acts_on_given_states(self) -> None:
        for kind, states in (("LSTM", "(others[0], others[0] * 2)"), ("GRU", "others[0]")):
            init = f"self.layer = torch.nn.{kind}(3, 20)"
            source = _file(f"return self.layer(x, {states})", "torch.rand(4, 2, 3)", "torch.rand(1, 2, 20)", init=init)
            self.assertIn(_OUTS[kind], self.calls(self.export(source, ["recurrent"])))

    def test_acts_on_one_sequence(self) -> None:
        """Without a batch, PyTorch's module adds a dimension."""
        init = "self.layer = torch.nn.GRU(3, 20)"
        exported = self.export(_file("return self.layer(x)", "torch.rand(4, 3)", init=init), ["all"])
        self.assertIn(_OUTS["GRU"], self.calls(exported))

    def test_length_and_batch_vary(self) -> None:
        for kind, is_first in itertools.product(_GATES, (False, True)):
            source = _file(
                "return self.layer(x)[0] * 2",
                "torch.rand(4, 3, 5)",
                init=f"self.layer = torch.nn.{kind}(5, 20, bidirectional=True, batch_first={is_first})",
                after="""
                def get_dynamic_shapes():
                    return ({0: torch.export.Dim("a", max=9), 1: torch.export.Dim("b", max=8)},)
                """,
            )
            exported = self.export(source, ["all"])
            self.assertEqual(self.calls(exported), sorted(["aten::mul.out", _OUTS[kind]]))

    def test_ends_of_padded_sequences(self) -> None:
        """As the error of a packed sequence proposes."""
        ends = "y.gather(1, (others[0] - 1).view(-1, 1, 1).expand(-1, -1, y.shape[2]))"
        init = "self.layer = torch.nn.LSTM(3, 20, batch_first=True)"
        lengths = "torch.tensor([5, 2])"
        source = _file(f"y = self.layer(x)[0]\nreturn {ends}", "torch.rand(2, 5, 3)", lengths, init=init)
        self.assertIn(_OUTS["LSTM"], self.calls(self.export(source, ["all"])))
        layer, x = nn.LSTM(3, 20, batch_first=True), torch.rand(2, 5, 3)
        expected = layer(nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 2]), batch_first=True))[1][0]
        actual = eval(ends, {"y": layer(x)[0], "others": [torch.tensor([5, 2])]})
        torch.testing.assert_close(actual.transpose(0, 1), expected)

    def test_program_is_small(self) -> None:
        init = "self.layer = torch.nn.LSTM(40, 64, 3, batch_first=True)"
        source = _file("return self.layer(x)[1][0][-1]", "torch.rand(1, 160, 40)", init=init)
        exported = self.export(source, ["all"])
        self.assertEqual(self.calls(exported), ["aten::select_copy.int_out", _OUTS["LSTM"]])

    def test_packs_shared_weights_once(self) -> None:
        init = "self.layer = torch.nn.GRU(160, 160)"
        exported = self.export(
            _file("return self.layer(self.layer(x)[0])", "torch.rand(4, 2, 160)", init=init), ["recurrent"]
        )
        self.assertEqual(self.changes(exported, "recurrent"), [self.changed("gru")] * 2)
        self.assertLess(len(exported.pte), 1.1 * 3 * 160 * 320 * 4)

    def test_acts_on_all_methods(self) -> None:
        source = _file("return self.layer(x)", "torch.rand(4, 2, 3)", init="self.layer = torch.nn.LSTM(3, 20)")
        source += """
_whole = get_model

class Last(Model):
    def forward(self, x):
        return super().forward(x)[1][0]

def get_model():
    model, inputs = _whole()
    last = Last().eval()
    last.layer = model.layer
    return {"forward": (model, inputs), "last": (last, inputs)}
"""
        exported = self.export(source, ["recurrent"])
        for method in ("forward", "last"):
            (report,) = exported.graph_passes[method]
            self.assertLen(report.changes, 1)

    def test_views_of_the_result(self) -> None:
        for kind, view in itertools.product(("LSTM", "GRU", "RNN"), ("by time", "by batch", "both", "written")):
            with self.subTest(f"{kind} {view}"), torch.no_grad():
                module = rewriting.randomized(_Viewed(getattr(nn, kind)(3, 20, batch_first=True), view))
                inputs = (torch.rand(2, 4, 3),)
                rewritten = rewriting.rewrite(module, inputs, ["all"])
                self.assertLen(rewritten.changes["recurrent"], 1)
                rewriting.compare(module, rewritten, inputs)
                rewritten.emit()

    def test_state_in_buffers(self) -> None:
        module = rewriting.randomized(_Streaming())
        for buffer in module.buffers():
            buffer.zero_()
        inputs = [(torch.rand(2, steps, 3),) for steps in (1, 1, 1)]
        with torch.no_grad():
            rewritten = rewriting.rewrite(module, inputs[0], ["all"])
            self.assertLen(rewritten.changes["recurrent"], 1)
            state = rewriting.initial_state(rewritten.program)
            for one in inputs:
                (actual,) = rewriting.run_program(rewritten.program, list(one), state)
                torch.testing.assert_close(actual, module(*one))

    def test_leaves(self) -> None:
        layer = "self.layer = torch.nn.GRU(3, 4)"
        of = "True, 1, 0.0, False, False, False"
        for forward, init in (
            # Computed weights, weights of the method's inputs, weights that the method changes.
            (f"return torch.gru(x, self.h, [self.w * 2, *self.rest], {of})", "pass"),
            (f"return torch.gru(x, self.h, [others[0], *self.rest], {of})", "pass"),
            ("y = self.layer(x)\nself.layer.weight_ih_l0[0].mul_(2)\nreturn y", layer),
        ):
            with self.subTest(forward):
                weights = """
                self.register_buffer("h", torch.zeros(1, 2, 4))
                self.w = torch.nn.Parameter(torch.rand(12, 3))
                for name, shape in (("a", (12, 4)), ("b", (12,)), ("c", (12,))):
                    self.register_parameter(name, torch.nn.Parameter(torch.rand(shape)))
                self.rest = [self.a, self.b, self.c]
                """
                inputs = ("torch.rand(3, 2, 3)", "torch.rand(12, 3)")
                source = _file(forward, *inputs, init=weights if init == "pass" else layer)
                exported = self.export(source, ["recurrent"])
                self.assertEqual(self.changes(exported, "recurrent"), [])
                self.assertNotIn(_OUTS["GRU"], self.calls(exported))

    def test_leaves_random_layers(self) -> None:
        module = nn.GRU(3, 4, num_layers=2, dropout=0.5).train()
        program = torch.export.export(module, (torch.rand(3, 2, 3),))
        self.assertFalse(recurrent.keeps_all(program))

    def test_leaves_methods_with_backends(self) -> None:
        source = _file("return self.layer(x)[0]", "torch.rand(3, 2, 3)", init="self.layer = torch.nn.GRU(3, 4)")
        exported = self.export(source, ["recurrent"], ["xnnpack"])
        self.assertEqual(self.changes(exported, "recurrent"), [])

    def test_checks_lengths_that_vary(self) -> None:
        """A layer that is not kept whole would have the number of steps of the example."""
        module = nn.GRU(3, 4)
        dynamic = ({0: torch.export.Dim("steps", max=9)},)
        with recurrent_shapes.known():
            program = torch.export.export(module, (torch.rand(5, 2, 3),), dynamic_shapes=dynamic)
        with self.assertRaisesRegex(ValueError, r"gru \(aten::gru.input\) has a varying number of time steps"):
            recurrent.check_steps(program)

    def test_operators(self) -> None:
        for kind, dtype in itertools.product(_GATES, (torch.float32, torch.float64, torch.bfloat16)):
            for options in ({}, {"num_layers": 2, "bidirectional": True}, {"bias": False, "batch_first": True}):
                module = getattr(nn, kind)(5, 20, dtype=dtype, **options).requires_grad_(False)
                weights = packed_recurrent.pack_network(
                    module._flat_weights, _GATES[kind], has_biases=module.bias, has_projections=False
                )
                sizes = (20, 0) if kind == "LSTM" else (20,)
                end = ("tanh",) if kind == "RNN" else ()
                flags = (module.num_layers, module.bias, module.bidirectional, module.batch_first)
                x = torch.rand(4, 3, 5, dtype=dtype)
                states = [None] * (2 if kind == "LSTM" else 1)
                results = _OPERATORS[kind].overload()(x, *states, weights, *sizes, *flags, *end)
                out, last = module.double()(x.double())
                expected = [out, *(last if isinstance(last, tuple) else (last,))]
                tolerance = 2e-2 if dtype == torch.bfloat16 else 1e-5
                for actual, wanted in zip(results, expected, strict=True):
                    torch.testing.assert_close(actual.double(), wanted, rtol=0, atol=tolerance)


if __name__ == "__main__":
    absltest.main()
