"""Tests of the pass convolution_1d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from absl.testing import absltest, parameterized
from torch import nn
from torch.nn import functional

from export.graph_passes import graphs
from export.graph_passes.rewrites import channels_last
from export.graph_passes.tests import rewriting

_ATEN = torch.ops.aten
_Function = Callable[[torch.Tensor], torch.Tensor]

# For each elementwise operator, calls of it that give lines, [batch, channels, positions].
_ELEMENTWISE: Mapping[str, _Function] = {
    "aten::abs": torch.abs,
    "aten::add.Scalar": lambda y: _ATEN.add.Scalar(y, 1.0),
    "aten::add.Tensor": lambda y: torch.add(y, y.neg(), alpha=3) + y.new_ones(y.shape[1], 1),
    "aten::clamp": lambda y: y.clamp(-1, 1),
    "aten::div.Scalar": lambda y: _ATEN.div.Scalar(y, 2.0),
    "aten::div.Tensor": lambda y: y / (torch.arange(float(y.shape[1]))[:, None] + 1),
    "aten::elu": functional.elu,
    "aten::exp": torch.exp,
    "aten::gelu": functional.gelu,
    "aten::hardtanh": functional.hardtanh,
    "aten::leaky_relu": functional.leaky_relu,
    "aten::maximum": lambda y: torch.maximum(y, y.neg()),
    "aten::minimum": lambda y: torch.minimum(torch.zeros(1), y),
    "aten::mul.Scalar": lambda y: _ATEN.mul.Scalar(y, 2.0),
    "aten::mul.Tensor": lambda y: y * torch.arange(float(y.shape[1])).reshape(1, -1, 1),
    "aten::neg": torch.neg,
    "aten::relu": torch.relu,
    "aten::sigmoid": torch.sigmoid,
    "aten::sqrt": lambda y: y.abs().sqrt(),
    "aten::sub.Scalar": lambda y: _ATEN.sub.Scalar(y, 2.0),
    "aten::sub.Tensor": lambda y: y - 0.5 * y.abs(),
    "aten::tanh": torch.tanh,
    "rules_executorch::activation": functional.hardswish,
}


def _normalized(y: torch.Tensor) -> torch.Tensor:
    """By a norm of the channels."""
    return functional.layer_norm(y.transpose(1, 2), y.shape[1:2]).transpose(1, 2)


# Other functions, of which the first ones give lines with as many channels.
_OTHERS: tuple[_Function, ...] = (
    _normalized,
    lambda y: torch.cat([y, y * 2.0], 0),
    lambda y: torch.cat([y[:, 8:], y[:, :8].abs()], 1),
    lambda y: torch.cat([y, y, y.neg()], 2),
    lambda y: functional.pad(y, (1, 2)),
    lambda y: functional.pad(y[:, 1:], (0, 1, 1, 0)),
    lambda y: y.transpose(1, 2).softmax(-1).transpose(1, 2),
    lambda y: y.mean(2, keepdim=True) * y,
    lambda y: y.cumsum(2),
    lambda y: y.transpose(1, 2).relu(),
    lambda y: y.permute(1, 0, 2).neg(),
    lambda y: y.unsqueeze(2) * 2.0,
    lambda y: y[0],
)
_LINES = 9


class _Between(nn.Module):
    """Functions of a convolution's result, each with a convolution of what has the same channels."""

    def __init__(self, functions: list[_Function], **options: Any) -> None:
        super().__init__()
        # The first layer pays for copies behind the second.
        self.first = nn.Sequential(nn.Conv1d(6, 384, 5, padding=2), nn.Conv1d(384, 32, 5, **options))
        self.next = nn.Conv1d(32, 8, 3, padding=1)
        self.functions = functions

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        y = self.first(x)
        results = [function(y) for function in self.functions]
        return [*map(self.next, results[:_LINES]), *results[_LINES:]]


class _Normalized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(64, 64, 5) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = _normalized(layer(x))
        return x


class _Late(nn.Module):
    """A module whose last layer leaves one length, which the other calls write as one that varies."""

    def __init__(self) -> None:
        super().__init__()
        self.short = nn.Conv1d(7, 1, 5, stride=2, padding=2)
        self.wide = nn.Conv1d(1, 16, 4)
        self.image = nn.Conv2d(8, 8, 3)
        self.last = nn.Conv1d(1, 3, 3)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        lines = self.wide(self.short(x) + y)
        padded = functional.pad(lines + lines, (2, 0, 0, 0))
        return self.last(self.image(padded).transpose(2, 1)), padded


def _convolutions(rewritten: rewriting.Rewritten) -> list[graphs.Call]:
    return [node for node in rewritten.program.graph.nodes if "convolution" in graphs.name_of(node).partition("::")[2]]


class LinesTest(parameterized.TestCase):
    def test_all_are_here(self) -> None:
        self.assertSameElements(_ELEMENTWISE, channels_last.ELEMENTWISE)

    @parameterized.product(names=(["convolution_1d"], ["all"]), dim=(None, 0, 2))
    def test_elementwise(self, names: list[str], dim: int | None) -> None:
        module = _Between(list(_ELEMENTWISE.values())).eval()
        rewritten = self._check(module, names, dim)
        for node in rewritten.program.graph.nodes:
            if graphs.name_of(node) in _ELEMENTWISE and any(one.op != "placeholder" for one in node.all_input_nodes):
                self.assertEqual(graphs.value(node).dim(), 4, node.format_node())

    @parameterized.product(names=(["convolution_1d"], ["all"]), dim=(None, 0, 2))
    def test_other_calls(self, names: list[str], dim: int | None) -> None:
        self._check(_Between(list(_OTHERS)).eval(), names, dim)

    @parameterized.product(
        options=(
            {"stride": 3, "padding": 2, "dilation": 2},
            {"padding": "same", "bias": False},
            {"groups": 2},
            {"padding": 3, "padding_mode": "reflect"},
        ),
        dim=(None, 0, 2),
    )
    def test_options(self, options: dict[str, Any], dim: int | None) -> None:
        self._check(_Between([torch.relu], **options).eval(), ["all"], dim)

    @parameterized.product(
        options=(
            {"kernel_size": 16, "stride": 8, "padding": 4},
            {"kernel_size": 5, "stride": 3, "output_padding": 2, "groups": 2, "bias": False},
        ),
        dim=(None, 0, 2),
    )
    def test_transposed(self, options: dict[str, Any], dim: int | None) -> None:
        module = nn.Sequential(
            nn.Conv1d(6, 64, 5), nn.ConvTranspose1d(64, 32, **options), nn.ELU(), nn.Conv1d(32, 8, 3)
        )
        rewritten = self._check(module.eval(), ["all"], dim)
        packed = [one for one in rewritten.changes["channels_last"] if one.what.endswith("of channels-last tensors")]
        self.assertLen(packed, 3)

    def _check(self, module: nn.Module, names: list[str], dim: int | None) -> rewriting.Rewritten:
        inputs = (torch.randn(2, 6, 40),)
        # PyTorch finds the least sizes.
        shapes = None if dim is None else ({dim: torch.export.Dim.AUTO(max=99)},)
        rewritten = rewriting.rewrite(module, inputs, names, shapes)
        self.assertNotEmpty(_convolutions(rewritten))
        for node in _convolutions(rewritten):
            self.assertEqual(graphs.value(node).dim(), 4, node.format_node())
        others = {None: (), 0: (torch.randn(5, 6, 40),), 2: (torch.randn(2, 6, 77),)}[dim]
        rewriting.compare(module, rewritten, inputs, *((one,) for one in others), tolerance=1e-3)
        rewritten.emit()
        return rewritten

    def test_length_that_the_last_layer_tells(self) -> None:
        """ExecuTorch refuses views whose sizes are numbers of tensors whose sizes are not."""
        module = _Late().eval()
        inputs = (torch.randn(8, 7, 7), torch.randn(8, 1, 4))
        varying = {dim: torch.export.Dim.AUTO(max=128) for dim in range(3)}
        rewritten = rewriting.rewrite(module, inputs, ["all"], (varying, varying))
        rewriting.compare(module, rewritten, inputs, tolerance=1e-3)
        rewritten.emit()

    def test_no_copies_around_a_norm(self) -> None:
        """What a norm of the channels takes and gives lies as the convolutions around it have it."""
        module = _Normalized().eval()
        rewritten = rewriting.rewrite(module, (torch.randn(2, 64, 40),), ["all"])
        rewriting.compare(module, rewritten, (torch.randn(2, 64, 40),), tolerance=1e-3)
        convolutions = _convolutions(rewritten)
        self.assertEqual({graphs.name_of(node) for node in convolutions}, {"rules_executorch::packed_convolution"})
        for node in convolutions[1:]:
            self.assertTrue(graphs.is_channels_last(graphs.value(node.args[0])), node.format_node())
            self.assertNotIn("dim_order", graphs.name_of(node.args[0]))

    @parameterized.parameters(
        (nn.Conv1d(6, 8, 3, groups=2), (2, 6, 40), None),
        (nn.Conv1d(6, 32, 3).double(), (2, 6, 40), None),
        (nn.ConvTranspose1d(6, 4, 3), (2, 6, 40), None),
        (nn.ConvTranspose1d(6, 32, 3, stride=4), (2, 6, 40), None),
        (
            nn.Conv1d(6, 32, 3),
            (2, 6, 40),
            ({0: torch.export.Dim("batch"), 2: torch.export.Dim("length", min=8, max=99)},),
        ),
    )
    def test_stays(self, module: nn.Module, shape: tuple[int, ...], shapes: Any) -> None:
        inputs = (torch.randn(shape, dtype=next(module.parameters()).dtype),)
        rewritten = rewriting.rewrite(module.eval(), inputs, ["convolution_1d"], shapes)
        self.assertEmpty(rewritten.changes["convolution_1d"])
        rewriting.compare(module, rewritten, inputs)


if __name__ == "__main__":
    absltest.main()
